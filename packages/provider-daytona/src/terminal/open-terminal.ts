import type { SandboxTerminal, SandboxTerminalOptions } from '@holdfast/core'
import { ChunkQueue, ConflictError, runWithDeadline, shellQuote } from '@holdfast/core/provider-kit'
import { isGone, statusOf } from '../errors.ts'
import { killRun } from '../exec/kill-run.ts'
import type { LiveSandbox } from '../lease/live-sandbox.ts'
import { newNonce } from '../naming.ts'
import type { VendorTerminal } from '../sdk.ts'
import { OutputAfterMark } from './output-after-mark.ts'

/** The service closes the connection on a larger message. */
const MAX_INPUT_BYTES = 32 * 1024
const CONNECT_MS = 15_000
const KILL_GRACE_MS = 500
const LAUNCH_VARIABLE = 'HOLDFAST_TERMINAL_LAUNCH'
const LAUNCH_LINE = ` stty -echo 2>/dev/null; eval "$${LAUNCH_VARIABLE}"\r`

export interface OpenTerminalOptions extends SandboxTerminalOptions {
  /** Passes every byte through unchanged, both ways, without echo. */
  isRaw?: boolean
}

/** Opens a terminal; output is complete from the first byte of what runs in it. */
export async function openTerminal(live: LiveSandbox, options: OpenTerminalOptions = {}): Promise<SandboxTerminal> {
  const terminal = new DaytonaTerminal(live, options)
  await terminal.connect()
  return terminal
}

class DaytonaTerminal implements SandboxTerminal {
  readonly output: ChunkQueue<Uint8Array> = new ChunkQueue()
  readonly exited: Promise<number | null>
  readonly #live: LiveSandbox
  readonly #options: OpenTerminalOptions
  readonly #mark = newNonce()
  readonly #ptyId = `hf-${this.#mark}`
  #handle: VendorTerminal | undefined
  #settleExit: (code: number | null) => void = () => undefined
  #isClosed = false
  #writes: Promise<void> = Promise.resolve()

  constructor(live: LiveSandbox, options: OpenTerminalOptions) {
    this.#live = live
    this.#options = options
    this.exited = new Promise((resolve) => {
      this.#settleExit = resolve
    })
  }

  async connect(): Promise<void> {
    const { cols, rows, cwd, env, signal } = this.#options
    const launch = launchScript(this.#options, this.#mark)
    const filter = new OutputAfterMark(launch === undefined ? undefined : this.#mark)
    const request = { operation: 'terminal open', isRepeatable: false, timeoutMs: CONNECT_MS, signal }
    const handle = await this.#live.request(request, () =>
      this.#live.vendor.process.createPty({
        id: this.#ptyId,
        cwd: cwd ?? this.#live.workspaceRoot,
        envs: {
          TERM: 'xterm-256color',
          ...this.#live.account.options.env,
          ...env,
          HOLDFAST_RUN: this.#mark,
          ...(launch === undefined ? {} : { [LAUNCH_VARIABLE]: launch }),
        },
        ...(cols === undefined ? {} : { cols }),
        ...(rows === undefined ? {} : { rows }),
        onData: (data) => {
          this.#live.touch()
          const kept = filter.push(data)
          if (kept.length > 0) this.output.push(new Uint8Array(kept))
        },
      }),
    )
    this.#handle = handle
    this.#live.openThings.add(this.#teardown)
    signal?.addEventListener('abort', this.#onAbort, { once: true })
    this.#watchExit(handle)
    if (launch === undefined) return
    await this.#send(Buffer.from(LAUNCH_LINE, 'utf8'))
    // Input that came earlier would be the login shell's.
    await this.#untilLaunched(filter.passed, signal)
  }

  async #untilLaunched(launched: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
    const limit = { operation: 'terminal launch', timeoutMs: CONNECT_MS, signal, clock: this.#live.account.clock }
    try {
      await runWithDeadline(limit, () => Promise.race([launched, this.exited]))
    } catch (error) {
      await this.kill().catch(() => undefined)
      await this.close()
      throw error
    }
  }

  write(data: string | Uint8Array): Promise<void> {
    const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data
    const written = this.#writes.then(() => this.#send(bytes))
    this.#writes = written.catch(() => undefined)
    return written
  }

  async resize(size: { cols: number; rows: number }): Promise<void> {
    await this.#live.request({ operation: 'terminal resize', isRepeatable: true }, () =>
      this.#live.vendor.process.resizePtySession(this.#ptyId, size.cols, size.rows),
    )
  }

  async kill(): Promise<void> {
    // Ending the terminal alone leaves behind what has put itself into a session of its own.
    await killRun(this.#live, { nonce: this.#mark, signal: 'TERM', graceMs: KILL_GRACE_MS, isRun: false })
    try {
      await this.#live.request({ operation: 'terminal kill', isRepeatable: true }, () =>
        this.#live.vendor.process.killPtySession(this.#ptyId),
      )
    } catch (error) {
      if (!isGone(error) && ![404, 410].includes(statusOf(error) ?? 0)) throw error
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#handle?.disconnect()
    this.#finish(null)
  }

  readonly #teardown = (): Promise<void> => this.close()

  readonly #onAbort = (): void => {
    this.kill()
      .catch(() => undefined)
      .finally(() => void this.close())
  }

  /** The client's own wait never settles when the connection was lost before it was asked. */
  #watchExit(handle: VendorTerminal): void {
    if (!handle.isConnected() && handle.exitCode === undefined) return this.#finish(null)
    handle.wait().then(
      (result) => this.#finish(result.exitCode ?? null),
      () => this.#finish(null),
    )
  }

  #finish(exitCode: number | null): void {
    this.#live.openThings.delete(this.#teardown)
    this.#options.signal?.removeEventListener('abort', this.#onAbort)
    this.#settleExit(exitCode)
    this.output.end()
  }

  async #send(bytes: Uint8Array): Promise<void> {
    const handle = this.#handle
    if (this.#isClosed || handle === undefined || !handle.isConnected()) throw closedError(this.#live.id)
    for (let at = 0; at < bytes.length; at += MAX_INPUT_BYTES) {
      await this.#live.request({ operation: 'terminal input', isRepeatable: false }, () =>
        handle.sendInput(bytes.subarray(at, at + MAX_INPUT_BYTES)),
      )
    }
  }
}

/**
 * What the login shell runs first: prints the mark after which output counts, sets the terminal up and becomes the
 * command. It travels as a variable, so that the typed line is short and its echo does not hold the mark.
 */
function launchScript(options: OpenTerminalOptions, mark: string): string | undefined {
  if (options.command === undefined && options.isRaw !== true) return undefined
  const mode = options.isRaw === true ? 'stty raw -echo' : 'stty echo'
  const program = options.command === undefined ? 'exec sh' : `exec sh -c ${shellQuote(options.command)}`
  return `unset ${LAUNCH_VARIABLE}; ${mode} 2>/dev/null; printf '\\036%s\\036' '${mark}'; ${program}`
}

function closedError(sandboxId: string): ConflictError {
  return new ConflictError('SANDBOX_CLOSED', `The terminal of sandbox ${sandboxId} is no longer connected.`)
}
