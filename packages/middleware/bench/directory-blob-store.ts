import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { blobChunks } from '@holdfast/core'
import type { BlobBody, BlobObject, BlobRecord, BlobStore } from '@holdfast/core'

/** The least that checkpoints need of a blob store, on disk, so that its memory does not count. */
export class DirectoryBlobStore implements BlobStore {
  readonly #dir: string

  constructor(dir: string) {
    this.#dir = dir
  }

  async put(key: string, body: BlobBody): Promise<BlobRecord> {
    await mkdir(this.#dir, { recursive: true })
    const path = this.#path(key)
    await pipeline(Readable.from(blobChunks(body)), createWriteStream(`${path}.part`))
    await rename(`${path}.part`, path)
    return this.#record(key)
  }

  async get(key: string): Promise<BlobObject | null> {
    const record = await this.head(key)
    if (record === null) return null
    const body = ReadableStream.from<Uint8Array>(createReadStream(this.#path(key)))
    const whole = new Response(body)
    return { ...record, body, arrayBuffer: () => whole.arrayBuffer(), text: () => whole.text() }
  }

  async head(key: string): Promise<BlobRecord | null> {
    try {
      return await this.#record(key)
    } catch (error) {
      if (error instanceof Error && Reflect.get(error, 'code') === 'ENOENT') return null
      throw error
    }
  }

  async headMany(keys: readonly string[]): Promise<Map<string, BlobRecord>> {
    const records = await Promise.all(keys.map((key) => this.head(key)))
    return new Map(records.flatMap((record) => (record === null ? [] : [[record.key, record]])))
  }

  delete(key: string): Promise<void> {
    return rm(this.#path(key), { force: true })
  }

  list(): Promise<{ objects: BlobRecord[] }> {
    return Promise.resolve({ objects: [] })
  }

  async #record(key: string): Promise<BlobRecord> {
    const { size, mtimeMs } = await stat(this.#path(key))
    return { key, size, etag: key.slice(-64), createdAt: mtimeMs }
  }

  #path(key: string): string {
    return join(this.#dir, key.replaceAll('/', '_'))
  }
}
