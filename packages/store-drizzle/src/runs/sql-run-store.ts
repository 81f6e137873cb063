import { assertId, assertMs, assertRunPatch, assertRunStatus, encodeExactJson } from '@holdfast/core'
import type { RunPatch, RunRecord, RunStore } from '@holdfast/core'
import type { SqlValue } from '../database/statement.ts'
import { createRun } from '../statements/create-run.ts'
import { findActiveRun, findRun, listReclaimableRuns, listThreadRuns } from '../statements/find-run.ts'
import { updateRun } from '../statements/update-run.ts'
import type { StoreContext } from '../store-context.ts'
import { encodeWakes, topicToken } from '../wake/wake-topic.ts'
import { runRecord } from './run-rows.ts'

export class SqlRunStore implements RunStore {
  readonly #context: StoreContext

  constructor(context: StoreContext) {
    this.#context = context
  }

  createOrResume: RunStore['createOrResume'] = async ({ runId, threadId, startedAt, status = 'running' }) => {
    assertId('runId', runId)
    assertId('threadId', threadId)
    assertMs('startedAt', startedAt)
    assertRunStatus(status)
    const row = await this.#context.db.row(createRun, [runId, threadId, status, startedAt])
    // The row of a concurrent insert is invisible to the statement that waited for it.
    const found = row ?? (await this.#context.db.row(findRun, [runId]))
    return runRecord(found ?? {})
  }

  update: RunStore['update'] = async (runId, patch) => {
    assertId('runId', runId)
    const { db, hub, channel } = this.#context
    const token = topicToken({ kind: 'cancel', id: runId })
    await db.rows(updateRun, [runId, ...patchParams(patch), channel, encodeWakes([token])])
    if (patch.cancelRequested === true) hub.wake([token])
  }

  get: RunStore['get'] = async (runId) => {
    assertId('runId', runId)
    const row = await this.#context.db.row(findRun, [runId])
    return row === undefined ? null : runRecord(row)
  }

  findActiveRun: RunStore['findActiveRun'] = async (threadId) => {
    assertId('threadId', threadId)
    const row = await this.#context.db.row(findActiveRun, [threadId])
    return row === undefined ? null : runRecord(row)
  }

  listByThread = async (threadId: string): Promise<RunRecord[]> => {
    assertId('threadId', threadId)
    const rows = await this.#context.db.rows(listThreadRuns, [threadId])
    return rows.map(runRecord)
  }

  listReclaimable = async ({ now, ttlMs }: { now: number; ttlMs: number }): Promise<RunRecord[]> => {
    const cutoff = assertMs('now', now) - assertMs('ttlMs', ttlMs)
    const rows = await this.#context.db.rows(listReclaimableRuns, [cutoff])
    return rows.map(runRecord)
  }
}

/** Each field as "is in the patch" and value; one that is there but undefined is cleared. */
function patchParams(patch: RunPatch): SqlValue[] {
  assertRunPatch(patch)
  const json = (value: unknown): string | null => (value === undefined ? null : encodeExactJson(value))
  const fields: [boolean, SqlValue][] = [
    [patch.status !== undefined, patch.status ?? null],
    ['finishedAt' in patch, patch.finishedAt ?? null],
    ['error' in patch, json(patch.error)],
    ['usage' in patch, json(patch.usage)],
    ['sandboxKey' in patch, patch.sandboxKey ?? null],
    ['detachedSince' in patch, patch.detachedSince ?? null],
    ['cancelRequested' in patch, patch.cancelRequested ?? null],
    ['driverEpoch' in patch, patch.driverEpoch ?? null],
  ]
  return fields.flat()
}
