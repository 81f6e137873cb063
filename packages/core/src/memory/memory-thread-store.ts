import { InvalidInputError, NotFoundError, ThreadBusyError } from '../errors/error-classes.ts'
import { assertId } from '../identifier.ts'
import { assertPageSize, decodeCursor, encodeCursor } from '../page.ts'
import type { ThreadListInput, ThreadRecord, ThreadStore } from '../threads/thread-store.ts'
import { compareUtf8 } from '../utf8-order.ts'
import { copyRecord } from './memory-copy.ts'
import { MemoryState } from './memory-state.ts'

const DEFAULT_PAGE_SIZE = 100

/** Conversations and their owners, in memory. */
export class MemoryThreadStore implements ThreadStore {
  readonly #state: MemoryState

  constructor(state = new MemoryState()) {
    this.#state = state
  }

  async ensure(input: { threadId: string; ownerId: string; title?: string }): Promise<ThreadRecord> {
    this.#state.assertOpen()
    const threadId = assertId('threadId', input.threadId)
    const ownerId = assertId('ownerId', input.ownerId)
    const title = input.title === undefined ? {} : { title: assertTitle(input.title) }
    const existing = this.#state.threads.get(threadId)
    if (existing === undefined) {
      const now = this.#state.clock.now()
      const record: ThreadRecord = { threadId, ownerId, ...title, createdAt: now, updatedAt: now }
      this.#state.threads.set(threadId, record)
      return copyRecord(record)
    }
    if (existing.ownerId === ownerId) return copyRecord(existing)
    throw new NotFoundError('THREAD_NOT_FOUND', `There is no thread ${threadId} for this owner.`, {
      details: { threadId },
    })
  }

  async find(threadId: string, ownerId?: string): Promise<ThreadRecord | null> {
    this.#state.assertOpen()
    if (ownerId !== undefined) assertId('ownerId', ownerId)
    const record = this.#state.threads.get(assertId('threadId', threadId))
    if (record === undefined || (ownerId !== undefined && record.ownerId !== ownerId)) return null
    return copyRecord(record)
  }

  async list(input: ThreadListInput): Promise<{ threads: ThreadRecord[]; cursor?: string }> {
    this.#state.assertOpen()
    const ownerId = assertId('ownerId', input.ownerId)
    const limit = assertPageSize(input.limit, DEFAULT_PAGE_SIZE)
    const after = input.cursor === undefined ? undefined : positionOf(input.cursor)
    const matches = [...this.#state.threads.values()]
      .filter((thread) => thread.ownerId === ownerId && (after === undefined || compareThreads(thread, after) > 0))
      .sort(compareThreads)
    const threads = matches.slice(0, limit).map(copyRecord)
    const last = threads.at(-1)
    if (last === undefined || matches.length <= limit) return { threads }
    return { threads, cursor: encodeCursor([last.updatedAt, last.threadId]) }
  }

  async rename(threadId: string, title: string): Promise<void> {
    this.#state.assertOpen()
    this.#change(threadId, { title: assertTitle(title) })
  }

  async touch(threadId: string): Promise<void> {
    this.#state.assertOpen()
    this.#change(threadId, {})
  }

  async delete(threadId: string): Promise<void> {
    this.#state.assertOpen()
    assertId('threadId', threadId)
    const holder = this.#state.findHolder(threadId)
    if (holder !== undefined) throw new ThreadBusyError({ threadId, activeRunId: holder.runId })
    eraseThread(this.#state, threadId)
  }

  #change(threadId: string, change: { title?: string }): void {
    const record = this.#state.threads.get(assertId('threadId', threadId))
    if (record === undefined) return
    this.#state.threads.set(threadId, { ...record, ...change, updatedAt: this.#state.clock.now() })
  }
}

/** Removes every row that the thread owns. Instance rows stay until their sandbox is destroyed. */
function eraseThread(state: MemoryState, threadId: string): void {
  for (const { runId } of state.runs.ofThread(threadId)) {
    state.runs.delete(runId)
    state.logs.drop(runId)
  }
  for (const [id, interrupt] of state.interrupts) if (interrupt.threadId === threadId) state.interrupts.delete(id)
  for (const [id, artifact] of state.artifacts) if (artifact.threadId === threadId) state.artifacts.delete(id)
  state.checkpoints.deleteThread(threadId)
  state.messages.delete(threadId)
  state.threads.delete(threadId)
}

type Position = Pick<ThreadRecord, 'updatedAt' | 'threadId'>

function compareThreads(a: Position, b: Position): number {
  return b.updatedAt - a.updatedAt || compareUtf8(a.threadId, b.threadId)
}

function positionOf(cursor: string): Position {
  const [updatedAt, threadId] = decodeCursor(cursor, ['number', 'string']) as [number, string]
  return { updatedAt, threadId }
}

function assertTitle(title: unknown): string {
  if (typeof title === 'string') return title
  throw new InvalidInputError('INVALID_ARGUMENT', 'title must be a string.')
}
