import { createHash } from 'node:crypto'
import { blobChunks } from '../content/blob-body.ts'
import { assertBlobContent, assertBlobKey, clampBlobRange } from '../content/blob-key.ts'
import type {
  BlobBody,
  BlobListInput,
  BlobObject,
  BlobPutOptions,
  BlobRecord,
  BlobStore,
} from '../content/blob-store.ts'
import { StoreError } from '../errors/error-classes.ts'
import { assertPageSize, decodeCursor, encodeCursor } from '../page.ts'
import { compareUtf8 } from '../utf8-order.ts'
import { copyRecord } from './memory-copy.ts'
import { MemoryState } from './memory-state.ts'
import type { MemoryBlob } from './memory-state.ts'

/** The limit of an in-memory blob store. */
export interface MemoryBlobStoreOptions {
  /** Largest blob. Default 256 MiB. */
  maxBlobBytes?: number
}

const DEFAULT_MAX_BLOB_BYTES = 256 * 1024 * 1024
const DEFAULT_PAGE_SIZE = 1_000
const BODY_CHUNK_BYTES = 64 * 1024

/** Bytes by key, in memory. */
export class MemoryBlobStore implements Required<BlobStore> {
  readonly #state: MemoryState
  readonly #maxBlobBytes: number

  constructor(state = new MemoryState(), options: MemoryBlobStoreOptions = {}) {
    this.#state = state
    this.#maxBlobBytes = options.maxBlobBytes ?? DEFAULT_MAX_BLOB_BYTES
  }

  async put(key: string, body: BlobBody, options: BlobPutOptions = {}): Promise<BlobRecord> {
    this.#state.assertOpen()
    assertBlobKey(key)
    const { bytes, sha256 } = await this.#readAll(key, body)
    this.#state.assertOpen()
    assertBlobContent(key, { sha256, size: bytes.length }, options.expectedLength)
    const { contentType, customMetadata } = options
    const record: BlobRecord = {
      key,
      size: bytes.length,
      etag: sha256,
      createdAt: this.#state.clock.now(),
      ...(contentType === undefined ? {} : { contentType }),
      ...(customMetadata === undefined ? {} : { customMetadata: { ...customMetadata } }),
    }
    this.#state.blobs.set(key, { record, bytes, touchedAt: record.createdAt })
    return copyRecord(record)
  }

  async get(key: string, options: { range?: { offset: number; length?: number } } = {}): Promise<BlobObject | null> {
    const blob = this.#find(key)
    if (blob === undefined) return null
    const { offset, length } = clampBlobRange(blob.record.size, options.range)
    const body = bytesStream(blob.bytes.subarray(offset, offset + length))
    const isWhole = offset === 0 && length === blob.record.size
    return {
      ...copyRecord(blob.record),
      ...(isWhole ? {} : { range: { offset, length } }),
      body,
      arrayBuffer: async () => await new Response(body).arrayBuffer(),
      text: async () => await new Response(body).text(),
    }
  }

  async head(key: string): Promise<BlobRecord | null> {
    const blob = this.#find(key)
    return blob === undefined ? null : copyRecord(blob.record)
  }

  async headMany(keys: readonly string[]): Promise<Map<string, BlobRecord>> {
    const found = new Map<string, BlobRecord>()
    for (const key of keys) {
      const blob = this.#find(key)
      if (blob === undefined) continue
      // Whoever asks is about to rely on it.
      blob.touchedAt = this.#state.clock.now()
      found.set(key, copyRecord(blob.record))
    }
    return found
  }

  async delete(key: string): Promise<void> {
    this.#state.assertOpen()
    this.#state.blobs.delete(assertBlobKey(key))
  }

  async list(input: BlobListInput = {}): Promise<{ objects: BlobRecord[]; cursor?: string; truncated?: boolean }> {
    this.#state.assertOpen()
    const limit = assertPageSize(input.limit, DEFAULT_PAGE_SIZE)
    const { prefix = '', cursor } = input
    const after = cursor === undefined ? undefined : (decodeCursor(cursor, ['string'])[0] as string)
    const keys = [...this.#state.blobs.keys()]
      .filter((key) => key.startsWith(prefix) && (after === undefined || compareUtf8(key, after) > 0))
      .sort(compareUtf8)
    const page = keys.slice(0, limit)
    const objects = page.map((key) => copyRecord((this.#state.blobs.get(key) as MemoryBlob).record))
    const last = page.at(-1)
    if (last === undefined || keys.length <= limit) return { objects, truncated: false }
    return { objects, cursor: encodeCursor([last]), truncated: true }
  }

  #find(key: string): MemoryBlob | undefined {
    this.#state.assertOpen()
    return this.#state.blobs.get(assertBlobKey(key))
  }

  async #readAll(key: string, body: BlobBody): Promise<{ bytes: Uint8Array; sha256: string }> {
    const hash = createHash('sha256')
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of blobChunks(body)) {
      size += chunk.length
      if (size > this.#maxBlobBytes) {
        const message = `Blob ${key} exceeds the limit of ${this.#maxBlobBytes} bytes.`
        throw new StoreError('BLOB_TOO_LARGE', message, { details: { key, maxBytes: this.#maxBlobBytes } })
      }
      hash.update(chunk)
      chunks.push(chunk.slice())
    }
    return { bytes: Buffer.concat(chunks), sha256: hash.digest('hex') }
  }
}

/** Streams copies, so that a reader cannot change what is stored. */
function bytesStream(bytes: Uint8Array): ReadableStream<Uint8Array> {
  let position = 0
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (position >= bytes.length) {
        controller.close()
        return
      }
      controller.enqueue(new Uint8Array(bytes.subarray(position, position + BODY_CHUNK_BYTES)))
      position += BODY_CHUNK_BYTES
    },
  })
}
