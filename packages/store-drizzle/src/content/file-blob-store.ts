import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import {
  assertBlobContent,
  assertBlobKey,
  assertPageSize,
  clampBlobRange,
  compareUtf8,
  decodeCursor,
  encodeCursor,
  systemClock,
} from '@holdfast/core'
import type { BlobListInput, BlobRecord, BlobStore, Clock } from '@holdfast/core'
import { blobObject } from './blob-object.ts'
import { DEFAULT_MAX_BLOB_BYTES, forEachEvenChunk } from './even-chunks.ts'
import { readBlobFile } from './read-blob-file.ts'

/** The limit and the clock of a blob store in a directory. */
export interface FileBlobStoreOptions {
  /** Largest blob. Default 256 MiB. */
  maxBlobBytes?: number
  clock?: Clock
  /** Throws once the store must not be used. */
  assertOpen?: () => void
}

interface BlobEntry {
  record: BlobRecord
  /** The file that has the bytes, beside the entry. */
  file: string
}

const CHUNK_BYTES = 256 * 1024
const DEFAULT_LIMIT = 1_000
const COLLECTABLE_KEY = /^sandbox-(files|artifacts)\/sha256\//

/**
 * Bytes in files of one directory: an entry per key, named by the key's hash, that points at a file of bytes. An entry is
 * put in place by one rename, so a reader sees the whole blob or none. A list reads every entry.
 */
export class FileBlobStore implements Required<BlobStore> {
  readonly #dir: string
  readonly #maxBlobBytes: number
  readonly #clock: Clock
  readonly #assertOpen: () => void

  constructor(dir: string, options: FileBlobStoreOptions = {}) {
    this.#dir = dir
    this.#maxBlobBytes = options.maxBlobBytes ?? DEFAULT_MAX_BLOB_BYTES
    this.#clock = options.clock ?? systemClock
    this.#assertOpen = options.assertOpen ?? (() => {})
  }

  put: BlobStore['put'] = async (key, body, options = {}) => {
    this.#assertOpen()
    const folder = this.#folderOf(assertBlobKey(key))
    await mkdir(folder, { recursive: true })
    const file = `${hashOf(key)}.${randomUUID()}.bytes`
    const handle = await open(join(folder, file), 'wx')
    try {
      const input = { key, body, chunkBytes: CHUNK_BYTES, maxBlobBytes: this.#maxBlobBytes }
      const content = await forEachEvenChunk(input, (chunk) => handle.writeFile(chunk))
      assertBlobContent(key, content, options.expectedLength)
      await handle.sync()
      const { contentType, customMetadata } = options
      const record: BlobRecord = {
        key,
        size: content.size,
        ...(contentType !== undefined && { contentType }),
        ...(customMetadata !== undefined && { customMetadata: { ...customMetadata } }),
        etag: content.sha256,
        createdAt: this.#clock.now(),
      }
      await this.#publish(key, { record, file })
      return record
    } catch (error) {
      await rm(join(folder, file), { force: true })
      throw error
    } finally {
      await handle.close()
    }
  }

  get: BlobStore['get'] = async (key, options = {}) => {
    this.#assertOpen()
    clampBlobRange(0, options.range)
    const opened = await this.#open(assertBlobKey(key))
    if (opened === undefined) return null
    const { record, handle } = opened
    const range = clampBlobRange(record.size, options.range)
    return blobObject(record, range, readBlobFile(handle, range))
  }

  head: BlobStore['head'] = async (key) => {
    const found = await this.headMany([key])
    return found.get(key) ?? null
  }

  headMany = async (keys: readonly string[]): Promise<Map<string, BlobRecord>> => {
    this.#assertOpen()
    const found = new Map<string, BlobRecord>()
    for (const key of keys) {
      const entry = await this.#find(assertBlobKey(key))
      if (entry === undefined) continue
      found.set(key, entry.record)
      await this.#touch(key)
    }
    return found
  }

  delete: BlobStore['delete'] = async (key) => {
    this.#assertOpen()
    const entry = await this.#find(assertBlobKey(key))
    if (entry === undefined) return
    await rm(this.#entryPath(key), { force: true })
    await rm(join(this.#folderOf(key), entry.file), { force: true })
  }

  list: BlobStore['list'] = async (input: BlobListInput = {}) => {
    this.#assertOpen()
    const limit = assertPageSize(input.limit, DEFAULT_LIMIT)
    const { prefix = '', cursor } = input
    const after = cursor === undefined ? undefined : String(decodeCursor(cursor, ['string'])[0])
    const records = (await this.#all())
      .filter(({ key }) => key.startsWith(prefix) && (after === undefined || compareUtf8(key, after) > 0))
      .toSorted((a, b) => compareUtf8(a.key, b.key))
    const objects = records.slice(0, limit)
    const last = objects.at(-1)
    if (records.length <= limit || last === undefined) return { objects, truncated: false }
    return { objects, cursor: encodeCursor([last.key]), truncated: true }
  }

  /** Blobs of checkpoints and artifacts that nobody stored or asked for within `graceMs`. */
  async listUntouched(graceMs: number): Promise<BlobRecord[]> {
    const records = (await this.#all()).filter(({ key }) => COLLECTABLE_KEY.test(key))
    const untouched = await Promise.all(records.map(({ key }) => this.#isUntouched(key, graceMs)))
    return records.filter((_, index) => untouched[index])
  }

  /** False when somebody touched it meanwhile. */
  async deleteUntouched(key: string, graceMs: number): Promise<boolean> {
    if (!(await this.#isUntouched(key, graceMs))) return false
    await this.delete(key)
    return true
  }

  async #isUntouched(key: string, graceMs: number): Promise<boolean> {
    const entry = await ifPresent(stat(this.#entryPath(key)))
    return entry !== undefined && entry.mtimeMs < Date.now() - graceMs
  }

  async #publish(key: string, entry: BlobEntry): Promise<void> {
    const before = await this.#find(key)
    const draft = join(this.#folderOf(key), `${randomUUID()}.draft`)
    await writeFile(draft, JSON.stringify(entry), { flush: true })
    await rename(draft, this.#entryPath(key))
    if (before !== undefined) await rm(join(this.#folderOf(key), before.file), { force: true })
  }

  /** A file that goes between looking and opening was replaced: the entry is read again. */
  async #open(key: string): Promise<{ record: BlobRecord; handle: FileHandle } | undefined> {
    for (;;) {
      const entry = await this.#find(key)
      if (entry === undefined) return undefined
      const handle = await ifPresent(open(join(this.#folderOf(key), entry.file), 'r'))
      if (handle !== undefined) return { record: entry.record, handle }
    }
  }

  async #find(key: string): Promise<BlobEntry | undefined> {
    const text = await ifPresent(readFile(this.#entryPath(key), 'utf8'))
    return text === undefined ? undefined : (JSON.parse(text) as BlobEntry)
  }

  async #touch(key: string): Promise<void> {
    const now = new Date()
    await ifPresent(utimes(this.#entryPath(key), now, now))
  }

  async #all(): Promise<BlobRecord[]> {
    const names = (await ifPresent(readdir(this.#dir, { recursive: true }))) ?? []
    const records: BlobRecord[] = []
    for (const name of names.filter((each) => each.endsWith('.json'))) {
      const text = await ifPresent(readFile(join(this.#dir, name), 'utf8'))
      if (text !== undefined) records.push((JSON.parse(text) as BlobEntry).record)
    }
    return records
  }

  #folderOf(key: string): string {
    return join(this.#dir, hashOf(key).slice(0, 2))
  }

  #entryPath(key: string): string {
    return join(this.#folderOf(key), `${hashOf(key)}.json`)
  }
}

/** A key may hold what no file name can. */
function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

async function ifPresent<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Bytes in files under `dir`, for stores whose database should stay small. */
export function fileBlobStore(dir: string, options: FileBlobStoreOptions = {}): Required<BlobStore> {
  return new FileBlobStore(dir, options)
}
