import { decodeJson, encodeExactJson } from '@holdfast/core'
import type { BlobPutOptions, BlobRecord } from '@holdfast/core'
import { maybeText, number, text } from '../database/row.ts'
import type { Row } from '../database/statement.ts'

type Attributes = Pick<BlobRecord, 'contentType' | 'customMetadata'>

/** Null when there is nothing to keep. */
export function encodeAttributes({ contentType, customMetadata }: BlobPutOptions): string | null {
  if (contentType === undefined && customMetadata === undefined) return null
  return encodeExactJson({ contentType, customMetadata })
}

export function blobRecord(row: Row): BlobRecord {
  const attributes = maybeText(row, 'attributes')
  return {
    key: text(row, 'key'),
    size: number(row, 'size'),
    ...(attributes !== undefined && (decodeJson(attributes, 'blob') as Attributes)),
    etag: text(row, 'etag'),
    createdAt: number(row, 'created_at'),
  }
}
