import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BlobStore } from '@holdfast/core'

/** Content up to this size waits in memory, larger content in a file. */
const MAX_BUFFERED_BYTES = 256 * 1024
/** When what waits is stored. */
const MAX_PENDING_BYTES = 4 * 1024 * 1024
const MAX_PENDING = 256
const PUTS_AT_ONCE = 4

export interface StoredContent {
  /** `<namespace>sha256/<hex>`, by what this host has read itself. */
  readonly blobKey: string
  readonly size: number
}

type Held = { readonly bytes: Uint8Array } | { readonly file: string }

/**
 * Takes contents whose hash nobody can be trusted to know, hashes every byte, and stores what the blob store lacks.
 * Memory stays flat: the key is needed before the bytes can be stored, so large content waits on disk.
 */
export class BlobIntake {
  readonly #blobs: BlobStore
  readonly #namespace: string
  readonly #pending = new Map<string, { size: number; held: Held }>()
  #pendingBytes = 0
  #dir: Promise<string> | undefined
  /** Bytes that the store did not have. */
  addedBytes = 0

  constructor(blobs: BlobStore, namespace: 'sandbox-files/' | 'sandbox-artifacts/') {
    this.#blobs = blobs
    this.#namespace = namespace
  }

  /** Resolves when the content is read. It is stored by then, or when `flush` resolves. */
  async add(pieces: AsyncIterable<Uint8Array>): Promise<StoredContent> {
    const hash = createHash('sha256')
    const holder = new ContentHolder(() => this.#file())
    let size = 0
    try {
      for await (const piece of pieces) {
        hash.update(piece)
        size += piece.length
        await holder.push(piece)
      }
    } catch (error) {
      await holder.discard()
      throw error
    }
    const blobKey = `${this.#namespace}sha256/${hash.digest('hex')}`
    const held = await holder.finish()
    await this.#hold(blobKey, size, held)
    return { blobKey, size }
  }

  async flush(): Promise<void> {
    const pending = [...this.#pending]
    this.#pending.clear()
    this.#pendingBytes = 0
    if (pending.length === 0) return
    const known = await this.#blobs.headMany?.(pending.map(([key]) => key))
    const missing = pending.filter(([key]) => known?.has(key) !== true)
    for (let at = 0; at < missing.length; at += PUTS_AT_ONCE) {
      await Promise.all(missing.slice(at, at + PUTS_AT_ONCE).map(([key, content]) => this.#put(key, content)))
    }
    await Promise.all(pending.map(([, { held }]) => discard(held)))
  }

  /** Removes what waits on disk. To be called at the end, whatever happened. */
  async dispose(): Promise<void> {
    if (this.#dir !== undefined) await rm(await this.#dir, { recursive: true, force: true })
  }

  async #hold(key: string, size: number, held: Held): Promise<void> {
    if (this.#pending.has(key)) return discard(held)
    this.#pending.set(key, { size, held })
    this.#pendingBytes += size
    if (this.#pendingBytes >= MAX_PENDING_BYTES || this.#pending.size >= MAX_PENDING) await this.flush()
  }

  async #put(key: string, { size, held }: { size: number; held: Held }): Promise<void> {
    const body = 'bytes' in held ? held.bytes : ReadableStream.from<Uint8Array>(createReadStream(held.file))
    await this.#blobs.put(key, body, { expectedLength: size })
    this.addedBytes += size
  }

  async #file(): Promise<string> {
    this.#dir ??= mkdtemp(join(tmpdir(), 'holdfast-checkpoint-'))
    return join(await this.#dir, randomUUID())
  }
}

class ContentHolder {
  readonly #newFile: () => Promise<string>
  #pieces: Uint8Array[] = []
  #size = 0
  #file: { path: string; handle: FileHandle } | undefined

  constructor(newFile: () => Promise<string>) {
    this.#newFile = newFile
  }

  async push(piece: Uint8Array): Promise<void> {
    this.#pieces.push(piece)
    this.#size += piece.length
    if (this.#size <= MAX_BUFFERED_BYTES) return
    const path = this.#file?.path ?? (await this.#newFile())
    this.#file ??= { path, handle: await open(path, 'wx', 0o600) }
    for (const each of this.#pieces.splice(0)) await this.#file.handle.appendFile(each)
  }

  async finish(): Promise<Held> {
    if (this.#file === undefined) return { bytes: Buffer.concat(this.#pieces) }
    await this.#file.handle.close()
    return { file: this.#file.path }
  }

  async discard(): Promise<void> {
    if (this.#file !== undefined) await discard(await this.finish())
  }
}

async function discard(held: Held): Promise<void> {
  if ('file' in held) await rm(held.file, { force: true })
}
