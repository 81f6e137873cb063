import { constants } from 'node:os'
import { ProviderError, sleep, UnsupportedError } from '@holdfast/core'
import type { Clock, SandboxBackendHandle, SandboxExecResult, SandboxSpawnHandle } from '@holdfast/core'
import { ChunkQueue, OutputCollector } from '@holdfast/core/provider-kit'
import type { Bash } from 'just-bash'
import { errnoOf, sandboxGone } from '../files/file-error.ts'
import type { MemoryTree } from './memory-tree.ts'
import { ShellFiles } from './shell-files.ts'

const TIMEOUT_EXIT_CODE = 124
/** What the library adds to the output of a command that was stopped. */
const STOP_NOTE = /bash: execution aborted\n$/
/** High enough for tests, low enough that an endless loop ends. */
const EXECUTION_LIMITS = { maxCommandCount: 1_000_000, maxLoopIterations: 1_000_000 }

type ExecOptions = Parameters<SandboxBackendHandle['exec']>[1]
type SpawnOptions = Parameters<SandboxBackendHandle['spawn']>[1]

interface Ending {
  /** Whether the command was stopped before its end, and what its exit code then is. */
  stoppedWith: number | undefined
  stdout: string
  stderr: string
  exitCode: number
}

export interface MemoryRunnerOptions {
  tree: MemoryTree
  /** The workspace; without it the sandbox is gone. */
  root: string
  baseEnv: Record<string, string>
  clock: Clock
}

/** Runs the commands of one sandbox in the shell library. Output comes when the command has ended. */
export class MemoryRunner {
  readonly #options: MemoryRunnerOptions
  readonly #running = new Set<StoppableCommand>()
  #lastPid = 0
  #bash: Promise<Bash> | undefined

  constructor(options: MemoryRunnerOptions) {
    this.#options = options
  }

  async exec(command: string, options: ExecOptions): Promise<SandboxExecResult> {
    options.signal?.throwIfAborted()
    const running = this.#start(command, options, options.stdin)
    let timedOut = false
    const cancelTimer = this.#schedule(options.timeoutMs, () => {
      timedOut = true
      running.stop(TIMEOUT_EXIT_CODE)
    })
    const ending = await running.ended.finally(cancelTimer)
    options.signal?.throwIfAborted()
    const stdout = collect(ending.stdout, options.maxOutputBytes, options.onStdout)
    const stderr = collect(ending.stderr, options.maxOutputBytes, options.onStderr)
    return {
      stdout: stdout.text(),
      stderr: stderr.text(),
      exitCode: ending.stoppedWith ?? ending.exitCode,
      ...(timedOut && ending.stoppedWith === TIMEOUT_EXIT_CODE ? { timedOut: true } : {}),
      ...(stdout.truncated || stderr.truncated ? { truncated: true } : {}),
    }
  }

  async spawn(command: string, options: SpawnOptions): Promise<SandboxSpawnHandle> {
    options.signal?.throwIfAborted()
    const running = this.#start(command, options, new Uint8Array())
    const stdout = new ChunkQueue<string>()
    const stderr = new ChunkQueue<string>()
    const exitCode = running.ended
      .then((ending) => {
        if (ending.stdout !== '') stdout.push(ending.stdout)
        if (ending.stderr !== '') stderr.push(ending.stderr)
        options.signal?.throwIfAborted()
        return ending.stoppedWith ?? ending.exitCode
      })
      .finally(() => {
        stdout.end()
        stderr.end()
      })
    exitCode.catch(() => undefined)
    this.#lastPid += 1
    return {
      pid: this.#lastPid,
      stdout,
      stderr,
      stdin: { write: noStdin, end: async () => undefined },
      wait: () => exitCode,
      kill: async (signal = 'SIGTERM') => {
        running.stop(128 + (typeof signal === 'number' ? signal : constants.signals[signal]))
        await running.ended
      },
    }
  }

  /** Stops everything that runs, as the end of a machine does. */
  async stopAll(): Promise<void> {
    const running = [...this.#running]
    for (const command of running) command.stop(128 + constants.signals.SIGKILL)
    await Promise.allSettled(running.map(({ ended }) => ended))
  }

  #schedule(ms: number | undefined, fn: () => void): () => void {
    return ms === undefined ? () => undefined : this.#options.clock.schedule(ms, fn)
  }

  #start(command: string, options: SpawnOptions, stdin: Uint8Array): StoppableCommand {
    this.#assertDirectory(options.cwd)
    const running = new StoppableCommand(options.signal, async (signal) => {
      const bash = await this.#shell()
      return bash.exec(command, {
        env: { ...this.#options.baseEnv, ...options.env },
        replaceEnv: true,
        cwd: options.cwd,
        rawScript: true,
        stdin: Buffer.from(stdin).toString('latin1'),
        stdinKind: 'bytes',
        signal,
      })
    })
    this.#running.add(running)
    void running.ended.catch(() => undefined).then(() => this.#running.delete(running))
    return running
  }

  #shell(): Promise<Bash> {
    this.#bash ??= startShell(this.#options)
    return this.#bash
  }

  #assertDirectory(cwd: string): void {
    const { tree, root } = this.#options
    if (!tree.has(root)) throw sandboxGone()
    try {
      tree.dir(cwd)
    } catch (cause) {
      throw new ProviderError('PROCESS_START_FAILED', `The working directory is unusable (${errnoOf(cause)}).`, {
        cause,
      })
    }
  }
}

async function startShell({ tree, clock }: MemoryRunnerOptions): Promise<Bash> {
  const { Bash } = await import('just-bash')
  return new Bash({
    fs: new ShellFiles(tree),
    executionLimits: EXECUTION_LIMITS,
    // It takes the timers away from the whole process while a command runs, ours included.
    defenseInDepth: false,
    sleep: (ms) => sleep(clock, ms),
  })
}

class StoppableCommand {
  readonly ended: Promise<Ending>
  readonly #stopping = new AbortController()
  #stoppedWith: number | undefined

  constructor(
    signal: AbortSignal | undefined,
    run: (stopping: AbortSignal) => Promise<{ stdout: string; stderr: string; exitCode: number }>,
  ) {
    const onAbort = (): void => this.stop(128 + constants.signals.SIGTERM)
    signal?.addEventListener('abort', onAbort, { once: true })
    this.ended = run(this.#stopping.signal)
      .then(({ stdout, stderr, exitCode }) => {
        const stoppedWith = this.#stoppedWith
        return {
          stdout,
          stderr: stoppedWith === undefined ? stderr : stderr.replace(STOP_NOTE, ''),
          exitCode,
          stoppedWith,
        }
      })
      .finally(() => signal?.removeEventListener('abort', onAbort))
    this.ended.catch(() => undefined)
  }

  /** The first stop decides the exit code. No effect after the end. */
  stop(exitCode: number): void {
    this.#stoppedWith ??= exitCode
    this.#stopping.abort()
  }
}

function collect(
  text: string,
  maxBytes: number | undefined,
  onText: ((text: string) => void) | undefined,
): OutputCollector {
  const collector = new OutputCollector({ maxBytes, onText })
  collector.push(new TextEncoder().encode(text))
  collector.end()
  return collector
}

async function noStdin(): Promise<never> {
  throw new UnsupportedError('CAPABILITY_UNSUPPORTED', 'A command in memory cannot be written to after it started.')
}
