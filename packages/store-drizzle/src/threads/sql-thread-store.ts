import {
  assertId,
  assertPageSize,
  decodeCursor,
  decodeJson,
  encodeCursor,
  encodeExactJson,
  InvalidInputError,
  NotFoundError,
  ThreadBusyError,
} from '@holdfast/core'
import type { ThreadRecord, ThreadStore } from '@holdfast/core'
import { maybeText, number, text } from '../database/row.ts'
import type { Row } from '../database/statement.ts'
import { deleteThreadRows, lockThreadContent, lockThreadRuns } from '../statements/delete-thread.ts'
import { ensureThread, findThread, listThreads, renameThread, touchThread } from '../statements/threads.ts'
import type { StoreContext } from '../store-context.ts'
import { topicToken } from '../wake/wake-topic.ts'

const DEFAULT_LIMIT = 100
/** Later than any time: a list without a cursor starts above everything. */
const FROM_THE_TOP = [Number.MAX_VALUE, '']

export class SqlThreadStore implements ThreadStore {
  readonly #context: StoreContext

  constructor(context: StoreContext) {
    this.#context = context
  }

  ensure: ThreadStore['ensure'] = async ({ threadId, ownerId, title }) => {
    assertId('threadId', threadId)
    assertId('ownerId', ownerId)
    const { db } = this.#context
    const titleJson = title === undefined ? null : encodeTitle(title)
    const row = (await db.row(ensureThread, [threadId, ownerId, titleJson])) ?? (await db.row(findThread, [threadId]))
    if (row === undefined || row['owner_id'] !== ownerId) {
      throw new NotFoundError('THREAD_NOT_FOUND', `No thread ${threadId} belongs to this owner.`, {
        details: { threadId },
      })
    }
    return threadRecord(row)
  }

  find: ThreadStore['find'] = async (threadId, ownerId) => {
    assertId('threadId', threadId)
    if (ownerId !== undefined) assertId('ownerId', ownerId)
    const row = await this.#context.db.row(findThread, [threadId])
    const isVisible = row !== undefined && (ownerId === undefined || row['owner_id'] === ownerId)
    return isVisible ? threadRecord(row) : null
  }

  list: ThreadStore['list'] = async (input) => {
    const limit = assertPageSize(input.limit, DEFAULT_LIMIT)
    const ownerId = assertId('ownerId', input.ownerId)
    const after = input.cursor === undefined ? FROM_THE_TOP : decodeCursor(input.cursor, ['number', 'string'])
    const rows = await this.#context.db.rows(listThreads, [ownerId, ...after, limit + 1])
    const threads = rows.slice(0, limit).map(threadRecord)
    const last = threads.at(-1)
    if (rows.length <= limit || last === undefined) return { threads }
    return { threads, cursor: encodeCursor([last.updatedAt, last.threadId]) }
  }

  rename: ThreadStore['rename'] = async (threadId, title) => {
    assertId('threadId', threadId)
    await this.#context.db.rows(renameThread, [threadId, encodeTitle(title)])
  }

  touch: ThreadStore['touch'] = async (threadId) => {
    assertId('threadId', threadId)
    await this.#context.db.rows(touchThread, [threadId])
  }

  delete: ThreadStore['delete'] = async (threadId) => {
    assertId('threadId', threadId)
    const { db, hub } = this.#context
    const gone = await db.transaction(
      async (tx) => {
        const runs = await tx.rows(lockThreadRuns, [threadId])
        const holder = runs.find((run) => run['holds_thread'] === true)
        if (holder !== undefined) throw threadBusy(threadId, holder)
        await tx.rows(lockThreadContent, [threadId])
        return tx.rows(deleteThreadRows, [threadId])
      },
      { repeatable: true },
    )
    hub.wake(gone.map((row) => topicToken({ kind: 'log', id: text(row, 'run_id') })))
  }
}

function threadBusy(threadId: string, holder: Row): ThreadBusyError {
  return new ThreadBusyError({
    threadId,
    activeRunId: text(holder, 'run_id'),
    orphaned: holder['is_orphaned'] === true,
  })
}

function encodeTitle(title: unknown): string {
  if (typeof title === 'string') return encodeExactJson(title)
  throw new InvalidInputError('INVALID_ARGUMENT', 'title must be a string.')
}

function threadRecord(row: Row): ThreadRecord {
  const title = maybeText(row, 'title')
  return {
    threadId: text(row, 'thread_id'),
    ownerId: text(row, 'owner_id'),
    ...(title !== undefined && { title: decodeJson(title, 'title') as string }),
    createdAt: number(row, 'created_at'),
    updatedAt: number(row, 'updated_at'),
  }
}
