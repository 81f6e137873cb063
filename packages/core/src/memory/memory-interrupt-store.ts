import { ConflictError, InvalidInputError } from '../errors/error-classes.ts'
import { decodeJson, encodeExactJson } from '../exact-json.ts'
import { assertId, assertMs } from '../identifier.ts'
import type { InterruptCommit, InterruptRecord, InterruptStore } from '../threads/interrupt-store.ts'
import { compareUtf8 } from '../utf8-order.ts'
import { copyRecord } from './memory-copy.ts'
import { MemoryState } from './memory-state.ts'

/** Pauses that wait for a person, in memory. */
export class MemoryInterruptStore implements Required<InterruptStore> {
  readonly #state: MemoryState

  constructor(state = new MemoryState()) {
    this.#state = state
  }

  async create(record: Omit<InterruptRecord, 'status' | 'resolvedAt' | 'response'>): Promise<void> {
    this.#state.assertOpen()
    const interruptId = assertId('interruptId', record.interruptId)
    const runId = assertId('runId', record.runId)
    const threadId = assertId('threadId', record.threadId)
    const requestedAt = assertMs('requestedAt', record.requestedAt)
    const payload = jsonCopy(record.payload) as Record<string, unknown>
    if (this.#state.interrupts.has(interruptId)) return
    this.#state.interrupts.set(interruptId, { interruptId, runId, threadId, status: 'pending', requestedAt, payload })
  }

  async resolve(interruptId: string, response?: unknown): Promise<void> {
    this.#state.assertOpen()
    assertId('interruptId', interruptId)
    this.#answer({ interruptId, status: 'resolved', response })
  }

  async cancel(interruptId: string): Promise<void> {
    this.#state.assertOpen()
    assertId('interruptId', interruptId)
    this.#answer({ interruptId, status: 'cancelled' })
  }

  async commitBatch(entries: readonly InterruptCommit[]): Promise<void> {
    this.#state.assertOpen()
    const seen = new Set<string>()
    for (const entry of entries) {
      assertId('interruptId', entry.interruptId)
      assertAnswer(entry)
      const isPending = this.#state.interrupts.get(entry.interruptId)?.status === 'pending'
      if (!isPending || seen.has(entry.interruptId)) throw conflict(entry.interruptId)
      seen.add(entry.interruptId)
    }
    for (const entry of entries) this.#answer(entry)
  }

  async get(interruptId: string): Promise<InterruptRecord | null> {
    this.#state.assertOpen()
    const record = this.#state.interrupts.get(assertId('interruptId', interruptId))
    return record === undefined ? null : copyRecord(record)
  }

  async list(threadId: string): Promise<InterruptRecord[]> {
    return this.#select('threadId', threadId, false)
  }

  async listPending(threadId: string): Promise<InterruptRecord[]> {
    return this.#select('threadId', threadId, true)
  }

  async listByRun(runId: string): Promise<InterruptRecord[]> {
    return this.#select('runId', runId, false)
  }

  async listPendingByRun(runId: string): Promise<InterruptRecord[]> {
    return this.#select('runId', runId, true)
  }

  #answer(entry: InterruptCommit): void {
    const record = this.#state.interrupts.get(entry.interruptId)
    const response = entry.status === 'resolved' && entry.response !== undefined ? jsonCopy(entry.response) : undefined
    if (record?.status !== 'pending') return
    const answered: InterruptRecord = { ...record, status: entry.status, resolvedAt: this.#state.clock.now() }
    if (response !== undefined) answered.response = response
    this.#state.interrupts.set(entry.interruptId, answered)
  }

  #select(field: 'threadId' | 'runId', id: string, isPendingOnly: boolean): InterruptRecord[] {
    this.#state.assertOpen()
    assertId(field, id)
    return [...this.#state.interrupts.values()]
      .filter((record) => record[field] === id && (!isPendingOnly || record.status === 'pending'))
      .sort((a, b) => a.requestedAt - b.requestedAt || compareUtf8(a.interruptId, b.interruptId))
      .map(copyRecord)
  }
}

function assertAnswer(entry: InterruptCommit): void {
  if (entry.status !== 'resolved' && entry.status !== 'cancelled') {
    throw new InvalidInputError('INVALID_ARGUMENT', 'An interrupt can be resolved or cancelled only.')
  }
  if (entry.status === 'resolved' && entry.response !== undefined) encodeExactJson(entry.response)
}

function jsonCopy(value: unknown): unknown {
  return decodeJson(encodeExactJson(value), 'interrupt')
}

function conflict(interruptId: string): ConflictError {
  const message = `Interrupt ${interruptId} is missing, repeated or already answered. Nothing of the batch was stored.`
  return new ConflictError('INTERRUPT_CONFLICT', message, { details: { interruptId } })
}
