import { assertId, assertMs, ConflictError, decodeJson, encodeExactJson } from '@holdfast/core'
import type { InterruptCommit, InterruptRecord, InterruptStore } from '@holdfast/core'
import { maybeNumber, maybeText, number, text } from '../database/row.ts'
import type { Row, Statement } from '../database/statement.ts'
import {
  answerInterrupt,
  answerInterrupts,
  createInterrupt,
  findInterrupt,
  listInterrupts,
  lockPendingInterrupts,
} from '../statements/interrupts.ts'
import type { StoreContext } from '../store-context.ts'

export class SqlInterruptStore implements InterruptStore {
  readonly #context: StoreContext

  constructor(context: StoreContext) {
    this.#context = context
  }

  create: InterruptStore['create'] = async ({ interruptId, runId, threadId, requestedAt, payload }) => {
    assertId('interruptId', interruptId)
    assertId('runId', runId)
    assertId('threadId', threadId)
    assertMs('requestedAt', requestedAt)
    const params = [interruptId, runId, threadId, requestedAt, encodeExactJson(payload)]
    await this.#context.db.rows(createInterrupt, params)
  }

  resolve: InterruptStore['resolve'] = async (interruptId, response) => {
    assertId('interruptId', interruptId)
    const json = response === undefined ? null : encodeExactJson(response)
    await this.#context.db.rows(answerInterrupt, [interruptId, 'resolved', json])
  }

  cancel: InterruptStore['cancel'] = async (interruptId) => {
    assertId('interruptId', interruptId)
    await this.#context.db.rows(answerInterrupt, [interruptId, 'cancelled', null])
  }

  commitBatch = async (entries: readonly InterruptCommit[]): Promise<void> => {
    const ids = entries.map(({ interruptId }) => assertId('interruptId', interruptId))
    const answers = entries.map(answerRow)
    if (new Set(ids).size !== ids.length) throw interruptConflict()
    this.#context.db.assertOpen()
    if (ids.length === 0) return
    await this.#context.db.transaction(
      async (tx) => {
        const pending = await tx.rows(lockPendingInterrupts, [JSON.stringify(ids)])
        if (pending.length !== ids.length) throw interruptConflict()
        await tx.rows(answerInterrupts, [JSON.stringify(answers)])
      },
      { repeatable: false },
    )
  }

  get: InterruptStore['get'] = async (interruptId) => {
    assertId('interruptId', interruptId)
    const row = await this.#context.db.row(findInterrupt, [interruptId])
    return row === undefined ? null : interruptRecord(row)
  }

  list: InterruptStore['list'] = (threadId) => this.#list(listInterrupts.ofThread, 'threadId', threadId)

  listPending: InterruptStore['listPending'] = (threadId) =>
    this.#list(listInterrupts.pendingOfThread, 'threadId', threadId)

  listByRun: InterruptStore['listByRun'] = (runId) => this.#list(listInterrupts.ofRun, 'runId', runId)

  listPendingByRun: InterruptStore['listPendingByRun'] = (runId) =>
    this.#list(listInterrupts.pendingOfRun, 'runId', runId)

  async #list(statement: Statement, kind: string, id: string): Promise<InterruptRecord[]> {
    const rows = await this.#context.db.rows(statement, [assertId(kind, id)])
    return rows.map(interruptRecord)
  }
}

function answerRow(entry: InterruptCommit): { id: string; status: string; response: string | null } {
  const response = entry.status === 'resolved' ? entry.response : undefined
  const json = response === undefined ? null : encodeExactJson(response)
  return { id: entry.interruptId, status: entry.status, response: json }
}

function interruptConflict(): ConflictError {
  const message = 'An interrupt of the batch is missing, named twice or already answered; nothing was stored.'
  return new ConflictError('INTERRUPT_CONFLICT', message)
}

function interruptRecord(row: Row): InterruptRecord {
  const resolvedAt = maybeNumber(row, 'resolved_at')
  const response = maybeText(row, 'response')
  return {
    interruptId: text(row, 'interrupt_id'),
    runId: text(row, 'run_id'),
    threadId: text(row, 'thread_id'),
    status: text(row, 'status') as InterruptRecord['status'],
    requestedAt: number(row, 'requested_at'),
    ...(resolvedAt !== undefined && { resolvedAt }),
    payload: decodeJson(text(row, 'payload'), 'payload') as Record<string, unknown>,
    ...(response !== undefined && { response: decodeJson(response, 'response') }),
  }
}
