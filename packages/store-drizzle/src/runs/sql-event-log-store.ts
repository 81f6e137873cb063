import { assertEpoch, assertId, assertMs, assertPageSize, formatEventOffset } from '@holdfast/core'
import type { EventLogInfo, EventLogStore } from '@holdfast/core'
import { maybeNumber, number } from '../database/row.ts'
import { findLog, lockLog, removeLog, removeLogsBefore } from '../statements/remove-logs.ts'
import type { StoreContext } from '../store-context.ts'
import { encodeWakes, topicToken } from '../wake/wake-topic.ts'
import { KeyedQueue } from './keyed-queue.ts'
import { SqlEventLog } from './sql-event-log.ts'

const REMOVE_AT_ONCE = 200

export class SqlEventLogStore implements EventLogStore {
  readonly #context: StoreContext
  readonly #appends = new KeyedQueue()

  constructor(context: StoreContext) {
    this.#context = context
  }

  open: EventLogStore['open'] = ({ runId, epoch, offset = null }) => {
    assertId('runId', runId)
    if (epoch !== undefined) assertEpoch(epoch)
    return new SqlEventLog(this.#context, this.#appends, { runId, epoch, offset })
  }

  find: EventLogStore['find'] = async (runId) => {
    assertId('runId', runId)
    const row = await this.#context.db.row(findLog, [runId])
    if (row === undefined) return null
    const length = number(row, 'tail')
    const closedAt = maybeNumber(row, 'closed_at')
    const info: EventLogInfo = {
      runId,
      isClosed: closedAt !== undefined,
      length,
      tail: length === 0 ? null : formatEventOffset(runId, length),
    }
    return closedAt === undefined ? info : { ...info, closedAt }
  }

  deleteBefore: EventLogStore['deleteBefore'] = async ({ closedBefore, limit }) => {
    assertMs('closedBefore', closedBefore)
    if (limit !== undefined) assertPageSize(limit, limit)
    let removed = 0
    for (;;) {
      const atOnce = Math.min(REMOVE_AT_ONCE, (limit ?? Number.POSITIVE_INFINITY) - removed)
      const row = await this.#context.db.row(removeLogsBefore, [closedBefore, atOnce])
      const count = row === undefined ? 0 : number(row, 'removed')
      removed += count
      if (count < atOnce || removed === limit) return removed
    }
  }

  delete: EventLogStore['delete'] = async (runId) => {
    assertId('runId', runId)
    const { db, hub, channel } = this.#context
    const token = topicToken({ kind: 'log', id: runId })
    await db.transaction(
      async (tx) => {
        await tx.rows(lockLog, [runId])
        await tx.rows(removeLog, [runId, channel, encodeWakes([token])])
      },
      { repeatable: true },
    )
    hub.wake([token])
  }
}
