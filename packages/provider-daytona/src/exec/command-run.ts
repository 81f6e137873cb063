import { ProviderError } from '@holdfast/core/provider-kit'
import { inSpan } from '../account/operation-span.ts'
import type { LiveSandbox } from '../lease/live-sandbox.ts'
import { newNonce } from '../naming.ts'
import { FrameReader, frameBytes } from '../script/frames.ts'
import type { Frame } from '../script/frames.ts'
import { runScript } from '../script/run-script.ts'
import type { RunMode, RunStdin } from '../script/run-script.ts'
import { followLogs } from './follow-logs.ts'
import { killRun } from './kill-run.ts'
import { RunOutputs } from './run-outputs.ts'
import type { OutputName } from './run-outputs.ts'
import { startInSession } from './start-in-session.ts'
import type { SessionRun } from './start-in-session.ts'

export interface CommandRunInput {
  command: string
  cwd: string
  env: Readonly<Record<string, string>>
  stdin: RunStdin
  /** Whether output is wanted while the command runs. */
  isLive: boolean
  maxBytes?: number | undefined
  onBytes: (name: OutputName, bytes: Uint8Array) => void
  onStarted?: ((pid: number) => void) | undefined
}

/** How a run ended: with a code, before it could start, or without anybody knowing how. */
export type RunEnd =
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'not-started' }
  | { readonly kind: 'killed-before-start' }
  | { readonly kind: 'lost' }

/** One request waits this long for a command; what takes longer is followed through a session. */
const DIRECT_WAIT_MS = 12_000
const FIRST_PEEK_MS = 200
const MAX_PEEK_MS = 8_000
/** How often an answer without a result is asked for again. */
const MAX_EMPTY_ANSWERS = 3
const MAX_FORGOTTEN_AT_ONCE = 50

/**
 * One command of a sandbox. However often a request of it is repeated or a stream breaks, the command is started once
 * and each byte of its outputs is delivered once.
 */
export class CommandRun {
  readonly nonce = newNonce()
  readonly #live: LiveSandbox
  readonly #input: CommandRunInput
  readonly #outputs: RunOutputs
  readonly #stop = new AbortController()
  #session: SessionRun | undefined
  #end: RunEnd | undefined
  #isKilled = false

  constructor(live: LiveSandbox, input: CommandRunInput) {
    this.#live = live
    this.#input = input
    this.#outputs = new RunOutputs(input.onBytes)
  }

  /** The session that standard input goes to, once the command was started with `stdin: 'pipe'`. */
  get session(): SessionRun | undefined {
    return this.#session
  }

  /** Runs the command to its end. */
  async run(): Promise<RunEnd> {
    if (!this.#input.isLive) {
      const end = await this.#ask({ kind: 'direct', waitMs: DIRECT_WAIT_MS, maxBytes: this.#input.maxBytes })
      if (end !== 'late') return end
    }
    const end = await this.#follow()
    if (end !== undefined) return end
    if (this.#input.stdin === 'pipe' && this.#session === undefined) return this.#giveUp()
    return this.#poll()
  }

  /** Ends the whole process tree and proves it. Repeatable; a run that has not begun never will. */
  async kill(signal: string, graceMs: number): Promise<void> {
    this.#isKilled = true
    await killRun(this.#live, { nonce: this.nonce, signal, graceMs })
  }

  /** Stops asking for the result. What runs in the sandbox is not touched. */
  abandon(reason: unknown): void {
    this.#stop.abort(reason)
  }

  /** One request that starts or joins the command. */
  async #ask(mode: RunMode): Promise<RunEnd | 'late'> {
    for (let empty = 1; ; empty += 1) {
      const from = this.#outputs.offsets
      const answer = await this.#send(mode)
      const end = this.#read(FrameReader.readAll(this.nonce, answer.result), this.#outputs.reader(from))
      if (end !== undefined) return end
      if (empty >= MAX_EMPTY_ANSWERS) throw noAnswerError(this.#live.id, answer.exitCode)
      await this.#live.account.pause(100 * empty, this.#stop.signal)
    }
  }

  async #send(mode: RunMode): Promise<{ exitCode: number; result: string }> {
    const { vendor, account } = this.#live
    const waitMs = mode.kind === 'follow' ? 0 : mode.waitMs
    const seconds = Math.ceil(waitMs / 1000) + 60
    const { script, acknowledge } = this.#script(mode, Object.keys(this.#input.env))
    const request = {
      operation: 'exec',
      isRepeatable: true,
      attempts: 5,
      timeoutMs: Math.ceil(waitMs * 1.5) + account.livenessMs,
      signal: this.#stop.signal,
    }
    const answer = await this.#live.request(request, () =>
      vendor.process.executeCommand(script, undefined, { ...this.#input.env }, seconds),
    )
    acknowledge()
    return answer
  }

  #script(mode: RunMode, sentNames: readonly string[]): { script: string; acknowledge: () => void } {
    const { finishedRuns, stateDir } = this.#live
    const finished = finishedRuns.slice(0, MAX_FORGOTTEN_AT_ONCE)
    const { command, cwd, stdin, env } = this.#input
    const script = runScript({
      nonce: this.nonce,
      stateDir,
      command,
      cwd,
      stdin,
      mode,
      sentNames,
      carriedVars: sentNames.length > 0 ? {} : env,
      from: this.#outputs.offsets,
      finished,
    })
    const acknowledge = (): void => {
      for (const nonce of finished) {
        const index = finishedRuns.indexOf(nonce)
        if (index !== -1) finishedRuns.splice(index, 1)
      }
    }
    return { script, acknowledge }
  }

  /** Follows the command through a session. Undefined when the stream cannot be had any more; nothing is lost by it. */
  async #follow(): Promise<RunEnd | undefined> {
    const from = this.#outputs.offsets
    let acknowledge = (): void => undefined
    const scriptOf = (attempt: number): string => {
      const made = this.#script({ kind: 'follow', attempt }, [])
      acknowledge = made.acknowledge
      return made.script
    }
    const session = await startInSession(this.#live, scriptOf, this.#stop.signal)
    if (session === undefined) return undefined
    acknowledge()
    this.#session = session
    // The second connection gets everything again from the first byte.
    for (let connection = 1; connection <= 2 && this.#end === undefined; connection += 1) {
      const deliver = this.#outputs.reader(from)
      const reader = new FrameReader(this.nonce)
      let hasBegun = false
      const isOver = (text: string): boolean => {
        const frames = reader.push(text)
        const first = frames.find(({ kind }) => kind !== 'p')
        // The beginning was lost on the way, and output may have been with it.
        if (!hasBegun && first !== undefined && first.kind !== 's') return true
        hasBegun ||= first !== undefined
        const end = this.#read(frames, deliver)
        return end !== undefined && end !== 'late'
      }
      await inSpan(this.#live.account.options.tracer, 'session follow', () =>
        followLogs(this.#live, session, this.#stop.signal, isOver),
      )
      this.#stop.signal.throwIfAborted()
    }
    this.#letGoOf(session)
    return this.#end
  }

  /** Input needs a session. What a lost request may have begun is ended. */
  async #giveUp(): Promise<never> {
    await this.kill('KILL', 0)
    const sandboxId = this.#live.id
    const message = `Sandbox ${sandboxId} gave no session that takes standard input; the command does not run.`
    throw new ProviderError('PROVIDER_UNAVAILABLE', message, { details: { sandboxId }, retryable: true })
  }

  /** A session whose command goes on is left alone: to delete it would end the command. */
  #letGoOf(session: SessionRun): void {
    const { sessions } = this.#live
    if (this.#end === undefined) return
    if (this.#isKilled || this.#input.stdin === 'pipe') sessions.discard(session.session)
    else sessions.giveBack(session.session)
  }

  /** Asks again and again, without a stream. */
  async #poll(): Promise<RunEnd> {
    for (let waitMs = FIRST_PEEK_MS; ; waitMs = Math.min(MAX_PEEK_MS, waitMs * 2)) {
      const end = await this.#ask({ kind: 'peek', waitMs })
      if (end !== 'late') return end
    }
  }

  /** The number is not known of a command that never began. */
  #onStarted(pid: number): void {
    if (!Number.isNaN(pid)) this.#input.onStarted?.(pid)
  }

  #read(frames: readonly Frame[], deliver: (name: OutputName, bytes: Uint8Array) => void): RunEnd | 'late' | undefined {
    let end: RunEnd | 'late' | undefined
    for (const frame of frames) {
      if (frame.kind === 'o') deliver('stdout', frameBytes(frame))
      else if (frame.kind === 'e') deliver('stderr', frameBytes(frame))
      else if (frame.kind === 's') this.#onStarted(Number(frame.payload))
      else if (frame.kind === 'l') end = 'late'
      else end = endOf(frame) ?? end
    }
    if (end !== undefined && end !== 'late' && this.#end === undefined) {
      this.#end = end
      if (end.kind === 'exited') this.#live.finishedRuns.push(this.nonce)
    }
    return end
  }
}

function endOf(frame: Frame): RunEnd | undefined {
  switch (frame.kind) {
    case 'x':
      return /^\d{1,3}$/.test(frame.payload) ? { kind: 'exited', exitCode: Number(frame.payload) } : { kind: 'lost' }
    case 'f':
      return { kind: 'not-started' }
    case 'k':
      return { kind: 'killed-before-start' }
    case 'u':
      return { kind: 'lost' }
    default:
      return undefined
  }
}

function noAnswerError(sandboxId: string, exitCode: number): ProviderError {
  const details = { sandboxId, exitCode }
  if (exitCode === 126 || exitCode === 127) {
    const message = `Sandbox ${sandboxId} lacks a tool that is needed to run commands: sh and base64.`
    return new ProviderError('PROCESS_START_FAILED', message, { details })
  }
  const message = `Sandbox ${sandboxId} answered without a result, so how the command ended is not known.`
  return new ProviderError('PROCESS_EXIT_UNKNOWN', message, { details })
}
