import { assertId, assertMs } from '../identifier.ts'
import type { EventLog, EventLogInfo, EventLogOpenInput, EventLogStore } from '../runs/event-log.ts'
import { formatEventOffset } from '../runs/event-offset.ts'
import { assertPageSize } from '../page.ts'
import { MemoryEventLog } from './memory-event-log.ts'
import { MemoryState } from './memory-state.ts'

/** Event logs of one process, in memory. */
export class MemoryEventLogStore implements EventLogStore {
  readonly #state: MemoryState

  constructor(state = new MemoryState()) {
    this.#state = state
  }

  open(input: EventLogOpenInput): EventLog {
    return new MemoryEventLog(this.#state, input)
  }

  async find(runId: string): Promise<EventLogInfo | null> {
    this.#state.assertOpen()
    const row = this.#state.logs.find(assertId('runId', runId))
    if (row === undefined || (row.texts.length === 0 && row.closedAt === undefined)) return null
    const { length } = row.texts
    const tail = length === 0 ? null : formatEventOffset(runId, length)
    const closed = row.closedAt === undefined ? {} : { closedAt: row.closedAt }
    return { runId, isClosed: row.closedAt !== undefined, length, tail, ...closed }
  }

  async deleteBefore(input: { closedBefore: number; limit?: number }): Promise<number> {
    const { logs } = this.#state
    this.#state.assertOpen()
    const closedBefore = assertMs('closedBefore', input.closedBefore)
    const limit = input.limit === undefined ? Number.POSITIVE_INFINITY : assertPageSize(input.limit, 0)
    const old = logs.closedRows().filter(([, row]) => (row.closedAt ?? closedBefore) < closedBefore)
    const removed = old.slice(0, limit)
    for (const [runId] of removed) logs.drop(runId)
    return removed.length
  }

  async delete(runId: string): Promise<void> {
    this.#state.assertOpen()
    this.#state.logs.drop(assertId('runId', runId))
  }
}
