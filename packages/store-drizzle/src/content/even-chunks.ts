import { createHash } from 'node:crypto'
import { blobChunks, StoreError } from '@holdfast/core'
import type { BlobBody } from '@holdfast/core'

export interface BlobContent {
  sha256: string
  size: number
}

/**
 * Hands the body on in pieces of one length, but for the last, and answers what was read. Holds one piece at a time.
 * `BLOB_TOO_LARGE` as soon as the limit is passed.
 */
export async function forEachEvenChunk(
  input: { key: string; body: BlobBody; chunkBytes: number; maxBlobBytes: number },
  take: (chunk: Uint8Array, position: number) => Promise<void>,
): Promise<BlobContent> {
  const { key, chunkBytes, maxBlobBytes } = input
  const hash = createHash('sha256')
  let gathered: Uint8Array[] = []
  let gatheredBytes = 0
  let size = 0
  let position = 0
  for await (const piece of blobChunks(input.body)) {
    size += piece.length
    if (size > maxBlobBytes) throw blobTooLarge(key, maxBlobBytes)
    hash.update(piece)
    gathered.push(piece.slice())
    gatheredBytes += piece.length
    if (gatheredBytes < chunkBytes) continue
    let rest = Buffer.concat(gathered)
    for (; rest.length >= chunkBytes; position += 1) {
      await take(rest.subarray(0, chunkBytes), position)
      rest = rest.subarray(chunkBytes)
    }
    gathered = [rest]
    gatheredBytes = rest.length
  }
  if (gatheredBytes > 0) await take(Buffer.concat(gathered), position)
  return { sha256: hash.digest('hex'), size }
}

export const DEFAULT_MAX_BLOB_BYTES = 256 * 1024 * 1024

function blobTooLarge(key: string, maxBytes: number): StoreError {
  const message = `Blob ${key} exceeds the limit of ${maxBytes} bytes. Nothing was stored.`
  return new StoreError('BLOB_TOO_LARGE', message, { details: { key, maxBytes } })
}
