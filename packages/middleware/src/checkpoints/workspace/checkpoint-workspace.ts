import { ProviderError } from '@holdfast/core'
import type { SandboxExecResult, SandboxHandle } from '@holdfast/core'
import { VIRTUAL_ROOT, workspaceRelativePath } from '@holdfast/core/provider-kit'

/** Longest time of one command. */
const COMMAND_TIMEOUT_MS = 600_000
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024

/** A sandbox's workspace as captures and restores see it. Paths are relative to its root. */
export class CheckpointWorkspace {
  readonly handle: SandboxHandle
  readonly root: string
  readonly signal: AbortSignal | undefined
  readonly #prefix: string

  constructor(input: { handle: SandboxHandle; root?: string; signal?: AbortSignal | undefined }) {
    this.handle = input.handle
    this.root = input.root ?? VIRTUAL_ROOT
    this.signal = input.signal
    const below = workspaceRelativePath(this.handle.workspaceRoot ?? VIRTUAL_ROOT, this.root)
    this.#prefix = below === '.' ? '' : `${below}/`
  }

  /** For `handle.fs`. */
  absolute(path: string): string {
    return path === '' ? this.root : `${this.root}/${path}`
  }

  /** As archives of the handle name it. */
  toArchivePath(path: string): string {
    return this.#prefix + path
  }

  /** Undefined for an entry outside of the root. */
  fromArchivePath(path: string): string | undefined {
    return path.startsWith(this.#prefix) ? path.slice(this.#prefix.length) : undefined
  }

  /** `items` reach the command's standard input, each ended by NUL. An output that is cut or late is an error. */
  async exec(command: string, items: readonly string[] = []): Promise<SandboxExecResult> {
    this.signal?.throwIfAborted()
    const result = await this.handle.process.exec(command, {
      cwd: this.root,
      timeoutMs: COMMAND_TIMEOUT_MS,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      ...(items.length === 0 ? {} : { stdin: items.map((item) => `${item}\0`).join('') }),
      ...(this.signal === undefined ? {} : { signal: this.signal }),
    })
    if (result.timedOut !== true && result.truncated !== true) return result
    const fault = result.timedOut === true ? 'took too long' : 'printed too much'
    throw new ProviderError('LIMIT_EXCEEDED', `A command of the checkpoint ${fault}; exclude parts of the workspace.`)
  }
}
