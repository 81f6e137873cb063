import { ConflictError, isHoldfastError } from '@holdfast/core'
import type { EventLog, EventLogEntry, EventOffset } from '@holdfast/core'
import { EventType } from '@tanstack/ai'
import type { StreamChunk } from '@tanstack/ai'
import { tracedLog } from '../telemetry/traced-log.ts'
import { finalizeRun } from './finalize-run.ts'
import { LastingAppend } from './lasting-append.ts'
import { outcomeOfEnd } from './outcome-of-end.ts'
import type { RunOutcome } from './run-outcome.ts'
import type { RunSession } from './run-session.ts'
import { isCancelChunk, terminalChunkFor } from './terminal-chunk.ts'
import { whenUnwindingTakesTooLong } from './unwinding.ts'
import { warnOf } from '../secrets/warn-of.ts'

/**
 * A run's log for TanStack's own response helpers: appends carry the driver's epoch, and `close` ends the run (transcript,
 * sandbox, last event, record). There the last event reaches the viewer before that work is done; `run.respond` does it
 * the other way round.
 */
export class RunEventLog implements EventLog {
  readonly runId: string
  readonly #session: RunSession
  readonly #log: EventLog
  readonly #appends: LastingAppend
  #last: StreamChunk | undefined
  #appending: Promise<unknown> = Promise.resolve()
  #closing: Promise<void> | undefined
  #unwinding: ReturnType<typeof whenUnwindingTakesTooLong> | undefined

  constructor(session: RunSession) {
    this.runId = session.runId
    this.#session = session
    this.#log = openDriverLog(session)
    this.#appends = new LastingAppend({
      log: this.#log,
      logs: session.stores.eventLog,
      clock: session.clock,
      isNew: false,
    })
  }

  /** Whether a response helper drives the run through this log. */
  get isProducing(): boolean {
    return this.#unwinding !== undefined
  }

  /** Ends a stopped run also where its helper does not: it waits for a model that never notices, or leaves a log open. */
  endWhenStopped(): void {
    if (this.#unwinding !== undefined) return
    this.#unwinding = whenUnwindingTakesTooLong(this.#session)
    this.#unwinding.signal.addEventListener(
      'abort',
      () => void this.close().catch((error: unknown) => warnOf(error, this.#session.redactor)),
      { once: true },
    )
  }

  resumeFrom(): null {
    return null
  }

  async append(chunks: StreamChunk[]): Promise<EventOffset[]> {
    this.endWhenStopped()
    const appended = this.#append(chunks)
    this.#appending = appended.then(ignore, ignore)
    return appended
  }

  read(offset: EventOffset, signal?: AbortSignal): AsyncIterable<EventLogEntry> {
    return this.#log.read(offset, signal)
  }

  snapshot(): Promise<EventLogEntry[]> {
    return this.#log.snapshot()
  }

  close(): Promise<void> {
    this.#closing ??= this.#finalize()
    return this.#closing
  }

  async #append(chunks: StreamChunk[]): Promise<EventOffset[]> {
    if (this.#closing !== undefined) throw closedError(this.runId)
    const told = this.#asStopped(chunks).map((chunk) => this.#withoutSecrets(chunk))
    try {
      const offsets = await this.#appends.append(told)
      this.#last = told.at(-1) ?? this.#last
      if (told.length < chunks.length) throw this.#session.controller.signal.reason
      return offsets
    } catch (error) {
      if (isHoldfastError(error, 'DRIVER_LOST')) this.#session.stop('lost')
      throw error
    }
  }

  /**
   * A stopped model loop fails, which the helper takes for the end of the run. Of a cancelled run it is, and is told as
   * such; a run that goes on elsewhere has no end here.
   */
  #asStopped(chunks: StreamChunk[]): StreamChunk[] {
    const { runId, threadId, clock } = this.#session
    const outcome = this.#session.stoppedOutcome()
    if (outcome === undefined) return chunks
    if (outcome.status !== 'aborted') return chunks.filter((chunk) => !isFailure(chunk))
    const cancelled = terminalChunkFor(outcome, undefined, { runId, threadId, now: clock.now() })
    return chunks.map((chunk) => (isFailure(chunk) ? cancelled : chunk))
  }

  /** The helper's own event of a failure is none of the chat's, whose secrets are out already. */
  #withoutSecrets(chunk: StreamChunk): StreamChunk {
    return isFailure(chunk) ? (this.#session.redactor?.json(chunk) ?? chunk) : chunk
  }

  async #finalize(): Promise<void> {
    this.#unwinding?.dispose()
    await this.#appending
    const outcome = this.#session.settle(outcomeOfEnd(this.#session, this.#last))
    const needsTerminal = !endsWith(this.#last, outcome)
    await finalizeRun({ session: this.#session, log: this.#log, outcome, held: undefined, needsTerminal })
  }
}

/** The log of a session with its epoch. */
export function openDriverLog(session: RunSession): EventLog {
  const { runId, epoch, trace } = session
  return tracedLog(session.stores.eventLog.open(epoch === undefined ? { runId } : { runId, epoch }), trace)
}

function isFailure(chunk: StreamChunk): boolean {
  return chunk.type === EventType.RUN_ERROR
}

function endsWith(last: StreamChunk | undefined, outcome: RunOutcome): boolean {
  if (outcome.status === 'failed') return last?.type === EventType.RUN_ERROR
  if (outcome.status === 'aborted') return last !== undefined && isCancelChunk(last)
  return last?.type === EventType.RUN_FINISHED
}

function closedError(runId: string): ConflictError {
  return new ConflictError('LOG_CLOSED', `Run ${runId} has been ended here.`, { details: { runId } })
}

function ignore(): void {}
