import { isHoldfastError } from '@holdfast/core'
import type { EventLog, EventLogEntry, EventOffset } from '@holdfast/core'
import { EventType } from '@tanstack/ai'
import type { StreamChunk } from '@tanstack/ai'
import { tracedLog } from '../telemetry/traced-log.ts'
import { finalizeRun } from './finalize-run.ts'
import { outcomeOfEnd } from './outcome-of-end.ts'
import type { RunOutcome } from './run-outcome.ts'
import type { RunSession } from './run-session.ts'

/**
 * A run's log for TanStack's own response helpers: appends carry the driver's epoch, and `close` ends the run (transcript,
 * sandbox, last event, record). There the last event reaches the viewer before that work is done; `run.respond` does it
 * the other way round.
 */
export class RunEventLog implements EventLog {
  readonly runId: string
  readonly #session: RunSession
  readonly #log: EventLog
  #last: StreamChunk | undefined
  #closing: Promise<void> | undefined

  constructor(session: RunSession) {
    this.runId = session.runId
    this.#session = session
    this.#log = openDriverLog(session)
  }

  resumeFrom(): null {
    return null
  }

  async append(chunks: StreamChunk[]): Promise<EventOffset[]> {
    try {
      const offsets = await this.#log.append(chunks)
      this.#last = chunks.at(-1) ?? this.#last
      return offsets
    } catch (error) {
      if (isHoldfastError(error, 'DRIVER_LOST')) this.#session.stop('lost')
      throw error
    }
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

  #finalize(): Promise<void> {
    const outcome = outcomeOfEnd(this.#session, this.#last)
    const needsTerminal = !endsWith(this.#last, outcome)
    return finalizeRun({ session: this.#session, log: this.#log, outcome, held: undefined, needsTerminal })
  }
}

/** The log of a session with its epoch. */
export function openDriverLog(session: RunSession): EventLog {
  const { runId, epoch, trace } = session
  return tracedLog(session.stores.eventLog.open(epoch === undefined ? { runId } : { runId, epoch }), trace)
}

function endsWith(last: StreamChunk | undefined, outcome: RunOutcome): boolean {
  if (outcome.status === 'failed') return last?.type === EventType.RUN_ERROR
  if (outcome.status === 'aborted') return false
  return last?.type === EventType.RUN_FINISHED
}
