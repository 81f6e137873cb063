import { CorruptDataError, NotFoundError } from '@holdfast/core'
import type { BlobStore, CheckpointEntry } from '@holdfast/core'
import { verifiedBytes } from './verified-bytes.ts'

type FileEntry = Extract<CheckpointEntry, { kind: 'file' }>

/** Verified contents up to this many bytes in all are kept, so that they are read from the store once. */
const MAX_KEPT_BYTES = 8 * 1024 * 1024
/** So many small ones are read at once; larger ones one by one, which keeps memory flat. */
const READS_AT_ONCE = 4
const SMALL_BYTES = 256 * 1024

/** Contents of a checkpoint's files, which are believed only after they have been read and hashed. */
export class CheckpointBlobs {
  readonly #blobs: BlobStore
  readonly #kept = new Map<string, Uint8Array>()
  #keptBytes = 0

  constructor(blobs: BlobStore) {
    this.#blobs = blobs
  }

  /** `SANDBOX_SNAPSHOT_MISSING_BLOB` unless all exist. One query where the store can. */
  async assertStored(files: readonly FileEntry[]): Promise<void> {
    if (this.#blobs.headMany === undefined || files.length === 0) return
    const found = await this.#blobs.headMany([...new Set(files.map(({ blobKey }) => blobKey))])
    const missing = files.find(({ blobKey }) => !found.has(blobKey))
    if (missing !== undefined) throw missingBlob(missing)
  }

  /** Reads and hashes all. `SANDBOX_SNAPSHOT_MISSING_BLOB`, `SANDBOX_SNAPSHOT_INVALID_BLOB`. */
  async verify(files: readonly FileEntry[]): Promise<void> {
    const unique = [...new Map(files.map((file) => [`${file.blobKey} ${file.size}`, file])).values()]
    const small = unique.filter(({ size }) => size <= SMALL_BYTES)
    for (let at = 0; at < small.length; at += READS_AT_ONCE) {
      await Promise.all(small.slice(at, at + READS_AT_ONCE).map((file) => this.#verify(file)))
    }
    for (const file of unique) if (file.size > SMALL_BYTES) await this.#verify(file)
  }

  /** The content, hashed once more while it is read: it fails at its end when the store has changed it since. */
  async open(file: FileEntry): Promise<ReadableStream<Uint8Array>> {
    const kept = this.#kept.get(file.blobKey)
    if (kept !== undefined) return new Blob([kept as Uint8Array<ArrayBuffer>]).stream()
    return ReadableStream.from(this.#checked(file))
  }

  async #verify(file: FileEntry): Promise<void> {
    const isKept = this.#keptBytes + file.size <= MAX_KEPT_BYTES
    if (isKept) this.#keptBytes += file.size
    const pieces: Uint8Array[] = []
    for await (const piece of this.#checked(file)) if (isKept) pieces.push(piece)
    if (isKept) this.#kept.set(file.blobKey, Buffer.concat(pieces))
  }

  #checked(file: FileEntry): AsyncGenerator<Uint8Array, void, undefined> {
    return verifiedBytes(this.#blobs, file, { missing: () => missingBlob(file), invalid: () => invalidBlob(file) })
  }
}

function missingBlob({ path, blobKey }: FileEntry): NotFoundError {
  const message = `The bytes of ${JSON.stringify(path)} are not in the blob store. Nothing was restored.`
  return new NotFoundError('SANDBOX_SNAPSHOT_MISSING_BLOB', message, { details: { path, blobKey } })
}

function invalidBlob({ path, blobKey }: FileEntry): CorruptDataError {
  const message = `The stored bytes of ${JSON.stringify(path)} are not those of its hash. Nothing was restored.`
  return new CorruptDataError('SANDBOX_SNAPSHOT_INVALID_BLOB', message, { details: { path, blobKey } })
}
