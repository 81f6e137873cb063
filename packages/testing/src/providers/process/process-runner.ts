import { existsSync } from 'node:fs'
import { ProviderError } from '@holdfast/core'
import type { Clock, SandboxBackendHandle, SandboxExecResult, SandboxSpawnHandle } from '@holdfast/core'
import { ChunkQueue, OutputCollector, Utf8TextDecoder } from '@holdfast/core/provider-kit'
import { sandboxGone } from '../files/file-error.ts'
import { commandMark } from './process-mark.ts'
import { ShellProcess } from './shell-process.ts'

const TIMEOUT_EXIT_CODE = 124
/** What a command that overran or was aborted gets to tidy up. */
const STOP_GRACE_MS = 150
/** What `kill` leaves between the asked signal and SIGKILL. */
const KILL_GRACE_MS = 1_000

type ExecOptions = Parameters<SandboxBackendHandle['exec']>[1]
type SpawnOptions = Parameters<SandboxBackendHandle['spawn']>[1]

export interface ProcessRunnerOptions {
  /** Unique to the sandbox on this machine. */
  instance: string
  /** The workspace; without it the sandbox is gone. */
  root: string
  /** Set for every command, below the caller's variables. */
  baseEnv: Record<string, string>
  stagingDir: string
  clock: Clock
}

/** Runs the commands of one sandbox as processes of this machine. */
export class ProcessRunner {
  readonly #options: ProcessRunnerOptions

  constructor(options: ProcessRunnerOptions) {
    this.#options = options
  }

  async exec(command: string, options: ExecOptions): Promise<SandboxExecResult> {
    const { signal, timeoutMs, maxOutputBytes: maxBytes } = options
    signal?.throwIfAborted()
    const stdout = new OutputCollector({ maxBytes, onText: options.onStdout })
    const stderr = new OutputCollector({ maxBytes, onText: options.onStderr })
    const started = await this.#start(command, options, {
      onStdout: (bytes) => stdout.push(bytes),
      onStderr: (bytes) => stderr.push(bytes),
    })
    started.endStdin(options.stdin)
    const stop = new StopWatch(started, signal)
    if (timeoutMs !== undefined) stop.after(timeoutMs, this.#options.clock)
    const exitCode = await stop.untilEnded()
    stdout.end()
    stderr.end()
    return {
      stdout: stdout.text(),
      stderr: stderr.text(),
      exitCode: stop.timedOut ? TIMEOUT_EXIT_CODE : exitCode,
      ...(stop.timedOut ? { timedOut: true } : {}),
      ...(stdout.truncated || stderr.truncated ? { truncated: true } : {}),
    }
  }

  async spawn(command: string, options: SpawnOptions): Promise<SandboxSpawnHandle> {
    options.signal?.throwIfAborted()
    const stdout = new TextOutput()
    const stderr = new TextOutput()
    const started = await this.#start(command, options, { onStdout: stdout.push, onStderr: stderr.push })
    const stop = new StopWatch(started, options.signal)
    const ended = stop.untilEnded().finally(() => {
      stdout.end()
      stderr.end()
    })
    ended.catch(() => undefined)
    return {
      pid: started.pid,
      stdout: stdout.queue,
      stderr: stderr.queue,
      stdin: stdinOf(started),
      wait: () => ended,
      kill: (signal = 'SIGTERM') => started.kill({ signal, graceMs: KILL_GRACE_MS }),
    }
  }

  async #start(
    command: string,
    options: SpawnOptions,
    outputs: { onStdout: (bytes: Uint8Array) => void; onStderr: (bytes: Uint8Array) => void },
  ): Promise<ShellProcess> {
    const { instance, baseEnv, stagingDir } = this.#options
    // The system says only that it cannot start the shell there.
    if (!existsSync(this.#options.root)) throw sandboxGone()
    return ShellProcess.start(command, {
      cwd: options.cwd,
      env: { ...baseEnv, ...options.env },
      mark: commandMark(instance),
      stagingDir,
      ...outputs,
    })
  }
}

/** Ends a command that overruns or is aborted, and tells which of the two happened. */
class StopWatch {
  timedOut = false
  readonly #process: ShellProcess
  readonly #signal: AbortSignal | undefined
  #cancelTimer: () => void = () => undefined
  #failStop: (error: unknown) => void = () => undefined

  constructor(process: ShellProcess, signal: AbortSignal | undefined) {
    this.#process = process
    this.#signal = signal
  }

  after(timeoutMs: number, clock: Clock): void {
    this.#cancelTimer = clock.schedule(timeoutMs, () => {
      if (this.#process.hasExited || this.#signal?.aborted === true) return
      this.timedOut = true
      this.#stop()
    })
  }

  /** The exit code once the whole tree is gone, or the signal's reason. */
  async untilEnded(): Promise<number> {
    const onAbort = (): void => this.#stop()
    this.#signal?.addEventListener('abort', onAbort, { once: true })
    if (this.#signal?.aborted === true) onAbort()
    const stopFailed = new Promise<never>((_, reject) => {
      this.#failStop = reject
    })
    try {
      const exitCode = await Promise.race([this.#process.ended, stopFailed])
      await this.#stopping
      this.#signal?.throwIfAborted()
      return exitCode
    } finally {
      this.#cancelTimer()
      this.#signal?.removeEventListener('abort', onAbort)
    }
  }

  #stopping: Promise<void> | undefined

  #stop(): void {
    this.#stopping ??= this.#process.kill({ signal: 'SIGTERM', graceMs: STOP_GRACE_MS })
    this.#stopping.catch((error: unknown) => this.#failStop(error))
  }
}

class TextOutput {
  readonly queue = new ChunkQueue<string>()
  readonly #decoder = new Utf8TextDecoder()

  readonly push = (bytes: Uint8Array): void => this.#deliver(this.#decoder.write(bytes))

  end(): void {
    this.#deliver(this.#decoder.end())
    this.queue.end()
  }

  #deliver(text: string): void {
    if (text !== '') this.queue.push(text)
  }
}

function stdinOf(started: ShellProcess): SandboxSpawnHandle['stdin'] {
  let isEnded = false
  return {
    write: async (data) => {
      if (!isEnded && (await started.writeStdin(data))) return
      throw new ProviderError('PROCESS_STDIN_CLOSED', 'The process no longer reads its standard input.')
    },
    end: async () => {
      isEnded = true
      started.endStdin()
    },
  }
}
