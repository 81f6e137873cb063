import { mkdir } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { Writable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import { pipeline } from 'node:stream/promises'
import { resolveWorkspacePath, workspaceRelativePath } from '@holdfast/core/provider-kit'
import { packTar, unpackTar } from 'modern-tar/fs'
import { packTar as packEntries, unpackTar as unpackEntries } from 'modern-tar'
import type { LiveSandbox } from '../lease/live-sandbox.ts'
import type { TransferFiles } from '../fs/transfer-files.ts'
import { DaytonaArchive } from './daytona-archive.ts'

/** One file that goes in or out. */
export interface SyncFile {
  /** Below the workspace. */
  path: string
  data: Uint8Array
  /** Permission bits. Default 0o644. */
  mode?: number
}

/** Many files at once, as archives: two requests whatever their number. Every path is confined to the workspace. */
export class FileSync {
  readonly #root: string
  readonly #archive: DaytonaArchive

  constructor(live: LiveSandbox, transfers: TransferFiles) {
    this.#root = live.workspaceRoot
    this.#archive = new DaytonaArchive(live, transfers)
  }

  /** Writes files into the workspace, replacing what is there. Repeatable. */
  async writeAll(files: readonly SyncFile[], options: { signal?: AbortSignal } = {}): Promise<void> {
    const entries = files.map(({ path, data, mode }) => ({
      header: { name: workspaceRelativePath(this.#root, path), size: data.length, mode: mode ?? 0o644 },
      body: data,
    }))
    const bytes = await packEntries(entries)
    await this.#archive.unpack(streamOf(bytes), options)
  }

  /** The named files' bytes by the path that was asked for. What is missing or no file is left out. */
  async readAll(paths: readonly string[], options: { signal?: AbortSignal } = {}): Promise<Map<string, Uint8Array>> {
    const asked = new Map(paths.map((path) => [workspaceRelativePath(this.#root, path), path]))
    const archive = await this.#archive.pack([...asked.keys()], options)
    const found = new Map<string, Uint8Array>()
    for (const { header, data } of await unpackEntries(archive)) {
      const path = asked.get(header.name)
      if (path !== undefined && header.type === 'file') found.set(path, data ?? new Uint8Array())
    }
    return found
  }

  /** Copies a local directory into the workspace, over what is there. */
  async copyIn(input: { from: string; to?: string; signal?: AbortSignal }): Promise<void> {
    const archive = Readable.toWeb(packTar(input.from)) as unknown as ReadableStream<Uint8Array>
    const directory = resolveWorkspacePath(this.#root, input.to ?? '.')
    await this.#archive.unpack(archive, { directory, ...withSignal(input.signal) })
  }

  /** Copies a file or directory of the workspace below a local directory, under its name in the workspace. */
  async copyOut(input: { from?: string; to: string; signal?: AbortSignal }): Promise<void> {
    const path = workspaceRelativePath(this.#root, input.from ?? '.')
    const archive = await this.#archive.pack([path], { isRecursive: true, ...withSignal(input.signal) })
    await mkdir(input.to, { recursive: true })
    const source = Readable.fromWeb(archive as NodeReadableStream<Uint8Array>)
    await pipeline(source, unpackTar(input.to) as Writable)
  }
}

function withSignal(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal }
}

function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes)
      controller.close()
    },
  })
}
