import { isHoldfastError } from '@holdfast/core'
import type { EventLog, EventLogEntry, EventOffset } from '@holdfast/core'

/**
 * A log whose reader breaks off when the store fails. The response helper would tell the viewer that the run has failed,
 * while it goes on; a connection that breaks makes the viewer come back with its last position instead.
 */
export class BreakableTail {
  readonly log: EventLog
  /** Why the reader ended early. */
  failure: { error: unknown } | undefined

  constructor(log: EventLog) {
    this.log = {
      runId: log.runId,
      resumeFrom: () => log.resumeFrom(),
      append: (chunks) => log.append(chunks),
      snapshot: () => log.snapshot(),
      close: () => log.close(),
      read: (offset, signal) => this.#read(log, offset, signal),
    }
  }

  async *#read(log: EventLog, offset: EventOffset, signal?: AbortSignal): AsyncGenerator<EventLogEntry> {
    try {
      yield* log.read(offset, signal)
    } catch (error) {
      if (isHoldfastError(error, 'INVALID_OFFSET')) throw error
      this.failure = { error }
    }
  }
}
