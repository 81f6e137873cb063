import { randomUUID } from 'node:crypto'
import {
  assertBlobContent,
  assertBlobKey,
  assertPageSize,
  clampBlobRange,
  decodeCursor,
  encodeCursor,
  StoreError,
} from '@holdfast/core'
import type { BlobListInput, BlobRecord, BlobStore } from '@holdfast/core'
import { bytesOf, number, text } from '../database/row.ts'
import type { Row } from '../database/statement.ts'
import {
  deleteBlob,
  dropUpload,
  headBlobs,
  listBlobs,
  openBlob,
  publishBlob,
  readChunk,
  storeChunk,
} from '../statements/blobs.ts'
import type { StoreContext } from '../store-context.ts'
import { blobObject } from './blob-object.ts'
import { blobRecord, encodeAttributes } from './blob-rows.ts'
import { DEFAULT_MAX_BLOB_BYTES, forEachEvenChunk } from './even-chunks.ts'

export interface SqlBlobStoreOptions {
  /** Largest blob. Default 256 MiB. */
  maxBlobBytes?: number | undefined
}

const CHUNK_BYTES = 256 * 1024
const DEFAULT_LIMIT = 1_000

/** Bytes in rows of one length each. They are written as they come and appear when the last one is there. */
export class SqlBlobStore implements Required<BlobStore> {
  readonly #context: StoreContext
  readonly #maxBlobBytes: number

  constructor(context: StoreContext, { maxBlobBytes = DEFAULT_MAX_BLOB_BYTES }: SqlBlobStoreOptions = {}) {
    this.#context = context
    this.#maxBlobBytes = maxBlobBytes
  }

  put: BlobStore['put'] = async (key, body, options = {}) => {
    const { db } = this.#context
    assertBlobKey(key)
    db.assertOpen()
    const uploadId = randomUUID()
    const attributes = encodeAttributes(options)
    try {
      const input = { key, body, chunkBytes: CHUNK_BYTES, maxBlobBytes: this.#maxBlobBytes }
      const content = await forEachEvenChunk(input, async (chunk, position) => {
        await db.rows(storeChunk, [uploadId, position, chunk])
      })
      assertBlobContent(key, content, options.expectedLength)
      const params = [key, uploadId, content.size, CHUNK_BYTES, content.sha256, attributes]
      return blobRecord((await db.row(publishBlob, params)) ?? {})
    } catch (error) {
      // What cannot be removed now is an upload without a blob, which a prune finds.
      await Promise.allSettled([db.rows(dropUpload, [uploadId])])
      throw error
    }
  }

  get: BlobStore['get'] = async (key, options = {}) => {
    assertBlobKey(key)
    const asked = clampBlobRange(Number.MAX_SAFE_INTEGER, options.range)
    const row = await this.#context.db.row(openBlob, [key, asked.offset])
    if (row === undefined) return null
    const record = blobRecord(row)
    const range = clampBlobRange(record.size, options.range)
    return blobObject(record, range, this.#bytes(row, range))
  }

  head: BlobStore['head'] = async (key) => {
    const found = await this.headMany([key])
    return found.get(key) ?? null
  }

  headMany = async (keys: readonly string[]): Promise<Map<string, BlobRecord>> => {
    for (const key of keys) assertBlobKey(key)
    const rows = await this.#context.db.rows(headBlobs, [JSON.stringify(keys)])
    return new Map(rows.map(blobRecord).map((record) => [record.key, record]))
  }

  delete: BlobStore['delete'] = async (key) => {
    assertBlobKey(key)
    await this.#context.db.rows(deleteBlob, [key])
  }

  list: BlobStore['list'] = async (input: BlobListInput = {}) => {
    const limit = assertPageSize(input.limit, DEFAULT_LIMIT)
    const after = input.cursor === undefined ? [''] : decodeCursor(input.cursor, ['string'])
    const rows = await this.#context.db.rows(listBlobs, [input.prefix ?? '', ...after, limit + 1])
    const objects = rows.slice(0, limit).map(blobRecord)
    const last = objects.at(-1)
    if (rows.length <= limit || last === undefined) return { objects, truncated: false }
    return { objects, cursor: encodeCursor([last.key]), truncated: true }
  }

  async *#bytes(
    blob: Row,
    { offset, length }: { offset: number; length: number },
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const chunkBytes = number(blob, 'chunk_bytes')
    let left = length
    for (let position = offset; left > 0;) {
      const index = Math.floor(position / chunkBytes)
      const isFirst = position === offset
      const chunk = isFirst ? blob : await this.#context.db.row(readChunk, [text(blob, 'upload_id'), index])
      if (chunk === undefined) throw replacedMeanwhile(text(blob, 'key'))
      const start = position - index * chunkBytes
      const part = bytesOf(chunk, 'bytes').subarray(start, start + left)
      left -= part.length
      position += part.length
      yield part
    }
  }
}

function replacedMeanwhile(key: string): StoreError {
  const message = `Blob ${key} was replaced or deleted while it was read. Read it again.`
  return new StoreError('STORE_FAILED', message, { details: { key }, retryable: true })
}
