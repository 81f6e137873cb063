import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { closeSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { Socket } from 'node:net'
import { constants } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { ProviderError } from '@holdfast/core'
import { isReused, processGroup } from '../../process-group.ts'
import type { ProcessGroup } from '../../process-group.ts'
import { endFamily } from './end-family.ts'
import type { EndFamilyOptions } from './end-family.ts'
import { errnoOf } from '../files/file-error.ts'
import { closePipes, openPipes } from './pipe-pair.ts'
import type { PipePair } from './pipe-pair.ts'
import { MARK_VARIABLE } from './process-mark.ts'

/** Linux takes at most 128 KiB in one argument; a longer command runs from a file. */
const MAX_ARGUMENT_BYTES = 100_000
/** How long the outputs must be silent after a command ended before what its children may print is no longer awaited. */
const QUIET_MS = 30
/** Children that never stop printing are not awaited longer than this. */
const MAX_DRAIN_MS = 300

/** Input, output and error output. */
const STREAMS = 3

export interface ShellProcessOptions {
  cwd: string
  env: Record<string, string>
  /** Value of the mark variable: unique to this command. */
  mark: string
  /** Where pipes are named, and a command that is too long for an argument is put. */
  stagingDir: string
  onStdout: (bytes: Uint8Array) => void
  onStderr: (bytes: Uint8Array) => void
}

/** One command under `/bin/sh`, in a process group and session of its own. */
export class ShellProcess {
  readonly pid: number
  /** The exit code; 128 + n after signal n. Rejects with `PROCESS_EXIT_UNKNOWN`. Settles when the outputs are read too. */
  readonly ended: Promise<number>
  readonly #child: ChildProcess
  readonly #mark: string
  readonly #group: ProcessGroup
  readonly #stdin: Socket
  readonly #outputs: readonly Socket[]
  #lastOutputAt = 0
  #hasExited = false

  static async start(command: string, options: ShellProcessOptions): Promise<ShellProcess> {
    const script = await scriptFile(command, options.stagingDir)
    const pipes = await openPipes(STREAMS, options.stagingDir)
    try {
      const child = await startChild(script === undefined ? ['-c', command] : [script], options, pipes)
      const started = new ShellProcess(child, options, pipes)
      if (script !== undefined) void started.ended.catch(() => undefined).then(() => rm(script, { force: true }))
      return started
    } catch (error) {
      closePipes(pipes)
      if (script !== undefined) await rm(script, { force: true })
      throw error
    }
  }

  private constructor(child: ChildProcess, options: ShellProcessOptions, pipes: readonly PipePair[]) {
    const [stdin, stdout, stderr] = pipes as [PipePair, PipePair, PipePair]
    this.#child = child
    this.#mark = options.mark
    this.pid = child.pid as number
    this.#group = processGroup(this.pid)
    for (const fd of [stdin.readFd, stdout.writeFd, stderr.writeFd]) closeSync(fd)
    this.#stdin = new Socket({ fd: stdin.writeFd, readable: false, writable: true })
    // A child that ended or closed its input makes later writes fail; `writeStdin` reports that.
    this.#stdin.on('error', () => undefined)
    this.#outputs = [this.#read(stdout.readFd, options.onStdout), this.#read(stderr.readFd, options.onStderr)]
    this.ended = this.#end()
    this.ended.catch(() => undefined)
  }

  get hasExited(): boolean {
    return this.#hasExited
  }

  /** False when the process no longer reads. */
  writeStdin(data: string | Uint8Array): Promise<boolean> {
    if (!this.#stdin.writable || this.#hasExited) return Promise.resolve(false)
    return new Promise((resolve) => this.#stdin.write(data, (error) => resolve(error == null)))
  }

  endStdin(data?: Uint8Array): void {
    if (data === undefined) this.#stdin.end()
    else this.#stdin.end(data)
  }

  /** Ends the command with everything that it started. Repeatable. */
  async kill(options: EndFamilyOptions): Promise<void> {
    await endFamily({ mark: this.#mark, ...(!isReused(this.#group) && { groupId: this.#group.id }) }, options)
  }

  #read(fd: number, deliver: (bytes: Uint8Array) => void): Socket {
    const stream = new Socket({ fd, readable: true, writable: false })
    stream.on('error', () => undefined)
    stream.on('data', (bytes: Buffer) => {
      this.#lastOutputAt = performance.now()
      deliver(bytes)
    })
    return stream
  }

  async #end(): Promise<number> {
    const closed = Promise.all(this.#outputs.map((stream) => new Promise((resolve) => stream.once('close', resolve))))
    const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
      this.#child.once('exit', (...how) => resolve(how))
    })
    this.#hasExited = true
    this.#stdin.destroy()
    await Promise.race([closed, this.#quiet()])
    this.#letGo()
    return exitCode(code, signal)
  }

  /** Resolves when a background child holds the outputs open but nothing more comes. */
  async #quiet(): Promise<void> {
    const exitedAt = performance.now()
    let seen: number
    do {
      seen = this.#lastOutputAt
      await pause(QUIET_MS)
      // One turn of the event loop reads what is waiting, so that a busy host does not cut the end off.
      await nextTurn()
    } while (this.#lastOutputAt !== seen && performance.now() - exitedAt < MAX_DRAIN_MS)
  }

  /** Outputs that background children still hold are read and dropped, without keeping this process alive. */
  #letGo(): void {
    for (const stream of this.#outputs) {
      stream.removeAllListeners('data')
      stream.resume()
      stream.unref()
    }
  }
}

async function startChild(
  argv: string[],
  options: ShellProcessOptions,
  pipes: readonly PipePair[],
): Promise<ChildProcess> {
  const [stdin, stdout, stderr] = pipes as [PipePair, PipePair, PipePair]
  const env = { ...options.env, [MARK_VARIABLE]: options.mark }
  try {
    const child = spawn('/bin/sh', argv, {
      cwd: options.cwd,
      env,
      detached: true,
      stdio: [stdin.readFd, stdout.writeFd, stderr.writeFd],
    })
    await once(child, 'spawn')
    return child
  } catch (error) {
    throw startFailed(error)
  }
}

async function scriptFile(command: string, dir: string): Promise<string | undefined> {
  if (Buffer.byteLength(command) <= MAX_ARGUMENT_BYTES) return undefined
  const path = join(dir, `command-${randomUUID()}`)
  await writeFile(path, command, { flag: 'wx', mode: 0o600 })
  return path
}

function startFailed(error: unknown): ProviderError {
  const code = errnoOf(error)
  const reason = code === 'ENOENT' || code === 'ENOTDIR' ? 'its working directory does not exist' : (code ?? 'unknown')
  return new ProviderError('PROCESS_START_FAILED', `The command could not be started: ${reason}.`, { cause: error })
}

function exitCode(code: number | null, signal: NodeJS.Signals | null): number {
  if (code !== null) return code
  if (signal !== null) return 128 + constants.signals[signal]
  throw new ProviderError('PROCESS_EXIT_UNKNOWN', 'The command ended without an exit code.')
}
