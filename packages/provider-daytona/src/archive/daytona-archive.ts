import type { SandboxArchive } from '@holdfast/core'
import { confinedEntries, ConflictError, ProviderError, readArchive, writeArchive } from '@holdfast/core/provider-kit'
import type { UnpackPlan } from '@holdfast/core/provider-kit'
import { foreignAnswer } from '../errors.ts'
import type { TransferFiles } from '../fs/transfer-files.ts'
import type { LiveSandbox } from '../lease/live-sandbox.ts'
import { newNonce } from '../naming.ts'
import { askScript } from '../script/ask-script.ts'
import { packScript, unpackScript } from './archive-scripts.ts'
import type { ArchivePlace } from './archive-scripts.ts'

/** Longest time for packing or unpacking inside the sandbox. */
const ARCHIVE_SECONDS = 600

export interface PackOptions {
  isRecursive?: boolean
  signal?: AbortSignal | undefined
}

/** Many files in two requests: one that packs or unpacks in the sandbox, one that carries the bytes. */
export class DaytonaArchive implements SandboxArchive {
  readonly #live: LiveSandbox
  readonly #transfers: TransferFiles

  constructor(live: LiveSandbox, transfers: TransferFiles) {
    this.#live = live
    this.#transfers = transfers
  }

  async pack(paths: readonly string[], options: PackOptions = {}): Promise<ReadableStream<Uint8Array>> {
    const archiveName = newNonce()
    const script = (nonce: string): string =>
      packScript({ ...this.#place(nonce, archiveName), paths, isRecursive: options.isRecursive === true })
    const size = Number(await this.#run('archive pack', script, options.signal))
    this.#transfers.forget(archiveName)
    return this.#transfers.downloadStream(archiveName, size, options.signal)
  }

  async unpack(
    archive: ReadableStream<Uint8Array>,
    options: { signal?: AbortSignal; directory?: string } = {},
  ): Promise<void> {
    // Checked on this side, entry by entry, on its way.
    const plan: UnpackPlan = { parents: new Set(), dirs: new Map(), leaves: new Set() }
    const checked = writeArchive(confinedEntries(readArchive(archive), plan), { longNames: 'gnu' })
    const { name: archiveName, size } = await this.#transfers.uploadStream(checked, options.signal)
    const directory = options.directory ?? this.#live.workspaceRoot
    const script = (nonce: string): string => unpackScript({ ...this.#place(nonce, archiveName), directory, size })
    await this.#run('archive unpack', script, options.signal)
    this.#transfers.forget(`${archiveName}.ok`)
  }

  #place(nonce: string, archiveName: string): ArchivePlace {
    const { workspaceRoot, stateDir } = this.#live
    const finished = this.#transfers.takeForgotten()
    return { nonce, workspaceRoot, stateDir, archiveName, finished }
  }

  async #run(operation: string, script: (nonce: string) => string, signal: AbortSignal | undefined): Promise<string> {
    const nonce = newNonce()
    const line = script(nonce)
    const frames = await askScript({
      vendor: this.#live.vendor,
      nonce,
      script: line,
      options: { operation, timeoutMs: ARCHIVE_SECONDS * 1000, signal },
      request: (options, send) => this.#live.request(options, send),
    })
    const frame = frames.at(-1)
    if (frame?.kind === 'ok') return frame.payload
    throw archiveError(frame?.kind, operation, frame?.payload)
  }
}

function archiveError(outcome: string | undefined, operation: string, code: string | undefined): Error {
  if (outcome === 'short') return foreignAnswer(operation)
  if (outcome === 'conflict') {
    return new ConflictError('FILE_CONFLICT', `${operation}: a file stands where a directory is needed.`)
  }
  return new ProviderError('FILE_FAILED', `${operation} failed in the sandbox.`, { details: { exitCode: code } })
}
