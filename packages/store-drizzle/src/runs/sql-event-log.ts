import { randomUUID } from 'node:crypto'
import {
  ConflictError,
  DriverLostError,
  encodeExactJson,
  formatTailOffsets,
  LeaseLostError,
  OFFSET_START,
  parseEventOffset,
} from '@holdfast/core'
import type { EventLog, EventLogEntry, EventOffset } from '@holdfast/core'
import type { StreamChunk } from '@tanstack/ai'
import type { StatementRunner } from '../database/database.ts'
import { number } from '../database/row.ts'
import type { Row } from '../database/statement.ts'
import { appendFenced, appendUnfenced, inspectLog } from '../statements/append-events.ts'
import { closeFenced, closeUnfenced } from '../statements/close-log.ts'
import type { StoreContext } from '../store-context.ts'
import { encodeWakes, topicToken } from '../wake/wake-topic.ts'
import type { WakeTopic } from '../wake/wake-topic.ts'
import { readPage } from './event-pages.ts'
import type { KeyedQueue } from './keyed-queue.ts'

export interface SqlEventLogInput {
  runId: string
  epoch: number | undefined
  offset: string | null
}

interface EventBatch {
  count: number
  payload: string
  batchId: string
}

export class SqlEventLog implements EventLog {
  readonly runId: string
  readonly #context: StoreContext
  readonly #appends: KeyedQueue
  readonly #epoch: number | undefined
  readonly #offset: string | null
  readonly #topic: WakeTopic
  readonly #token: string

  constructor(context: StoreContext, appends: KeyedQueue, { runId, epoch, offset }: SqlEventLogInput) {
    this.#context = context
    this.#appends = appends
    this.runId = runId
    this.#epoch = epoch
    this.#offset = offset
    this.#topic = { kind: 'log', id: runId }
    this.#token = topicToken(this.#topic)
  }

  resumeFrom = (): EventOffset | null => this.#offset as EventOffset | null

  append = async (chunks: StreamChunk[]): Promise<EventOffset[]> => {
    const count = chunks.length
    const payload = encodeExactJson(chunks)
    this.#context.db.assertOpen()
    if (count === 0) return []
    const batch = { count, payload, batchId: randomUUID() }
    const tail = await this.#context.db.hold((db) => this.#appends.run(this.runId, () => this.#append(db, batch)))
    this.#context.hub.publish(this.#token)
    return formatTailOffsets(this.runId, tail, count)
  }

  async *read(offset: EventOffset, signal?: AbortSignal): AsyncGenerator<EventLogEntry> {
    const { db, hub } = this.#context
    let position = await this.#startOf(offset)
    let logId: number | undefined
    const watch = hub.watch(this.#topic, () => position)
    try {
      while (!isAborted(signal)) {
        const page = await readPage(db, this.runId, position)
        if (logId !== undefined && logId !== page.logId) return
        for (const entry of page.entries) {
          if (isAborted(signal)) return
          yield entry
        }
        position = page.position
        if (page.tail < position || (page.isClosed && page.tail === position)) return
        logId = page.logId
        if (page.tail === position) await watch.next(signal)
      }
    } finally {
      watch.stop()
    }
  }

  snapshot = async (): Promise<EventLogEntry[]> => {
    const entries: EventLogEntry[] = []
    let position = 0
    let tail: number | undefined
    for (;;) {
      const page = await readPage(this.#context.db, this.runId, position)
      entries.push(...page.entries)
      tail ??= page.tail
      position = page.position
      if (page.entries.length === 0 || position >= tail) return entries
    }
  }

  close = async (): Promise<void> => {
    const { db, hub, channel } = this.#context
    const notification = [channel, encodeWakes([this.#token])]
    await db.hold((held) => this.#appends.run(this.runId, () => this.#close(held, notification)))
    hub.wake([this.#token])
  }

  async #append(db: StatementRunner, { count, payload, batchId }: EventBatch): Promise<number> {
    const epoch = this.#epoch
    const row =
      epoch === undefined
        ? await db.row(appendUnfenced, [this.runId, count, batchId, payload])
        : await db.row(appendFenced, [this.runId, epoch, count, batchId, payload])
    if (row !== undefined) return number(row, 'tail')
    const state = await db.row(inspectLog, [this.runId])
    if (state?.['last_batch'] === batchId) return number(state, 'tail')
    throw this.#refusal(state)
  }

  #refusal(state: Row | undefined): Error {
    const { runId } = this
    const epoch = this.#epoch
    if (epoch !== undefined && (state === undefined || number(state, 'epoch') !== epoch)) {
      return new DriverLostError({ runId, epoch })
    }
    if (epoch === undefined && state !== undefined && number(state, 'epoch') > 0) {
      const message = `Run ${runId} has been claimed; open its event log with the epoch of the claim.`
      return new LeaseLostError('LOG_FENCED', message, { details: { runId } })
    }
    return new ConflictError('LOG_CLOSED', `The event log of run ${runId} is closed.`, { details: { runId } })
  }

  async #close(db: StatementRunner, notification: string[]): Promise<void> {
    const epoch = this.#epoch
    const closed =
      epoch === undefined
        ? await db.row(closeUnfenced, [this.runId, ...notification])
        : await db.row(closeFenced, [this.runId, epoch, ...notification])
    if (closed !== undefined) return
    const state = await db.row(inspectLog, [this.runId])
    const isClosed = state !== undefined && state['closed_at'] !== null
    const isMine = epoch === undefined || (state !== undefined && number(state, 'epoch') === epoch)
    if (!isClosed || !isMine) throw this.#refusal(state)
  }

  async #startOf(offset: EventOffset): Promise<number> {
    if (offset === OFFSET_START) return 0
    const state = await this.#context.db.row(inspectLog, [this.runId])
    return parseEventOffset(this.runId, offset, state === undefined ? 0 : number(state, 'tail'))
  }
}

/** A call, because the compiler does not know that the answer changes at every yield. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}
