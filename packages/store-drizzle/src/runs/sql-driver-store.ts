import {
  assertClaimInput,
  assertFence,
  assertId,
  assertMs,
  assertPageSize,
  assertRunIds,
  assertRunStatus,
  DriverLostError,
  encodeExactJson,
  finishPatch,
  StoreError,
} from '@holdfast/core'
import type { CancelRequest, DriverClaim, DriverInfo, DriverStore, RunRecord } from '@holdfast/core'
import { isTrue, number, text } from '../database/row.ts'
import type { Row } from '../database/statement.ts'
import { violatedConstraint } from '../database/sql-errors.ts'
import { claimRun } from '../statements/claim-run.ts'
import { detachRun, finishRun, releaseRun, renewRun } from '../statements/hold-run.ts'
import { listOrphanedRuns, listRuns } from '../statements/list-runs.ts'
import { findDrivers } from '../statements/find-drivers.ts'
import { findCancel, requestCancel } from '../statements/request-cancel.ts'
import type { StoreContext } from '../store-context.ts'
import { encodeWakes, topicToken } from '../wake/wake-topic.ts'
import { claimRefusal } from './claim-refusal.ts'
import { runRecord } from './run-rows.ts'

/** A refusal whose reason is gone when it is looked up means that the state moved on: the claim is tried again. */
const MAX_CLAIM_TRIES = 20

export class SqlDriverStore implements DriverStore {
  readonly #context: StoreContext

  constructor(context: StoreContext) {
    this.#context = context
  }

  claim: DriverStore['claim'] = async (input) => {
    const { runId, threadId, owner, ttlMs, sandboxKey, purpose = 'drive' } = input
    assertClaimInput(input)
    const params = [runId, threadId, owner, ttlMs, sandboxKey ?? null, purpose === 'finalize']
    for (let tries = 0; tries < MAX_CLAIM_TRIES; tries += 1) {
      const row = await this.#tryClaim(params)
      if (row !== undefined) return driverClaim(row)
      const refusal = await claimRefusal(this.#context.db, input)
      if (refusal !== undefined) throw refusal
    }
    throw new StoreError('STORE_UNAVAILABLE', `Run ${runId} changes hands too fast to be claimed.`, { retryable: true })
  }

  renew: DriverStore['renew'] = async ({ runId, epoch, ttlMs }) => {
    assertFence({ runId, epoch })
    const row = await this.#context.db.row(renewRun, [runId, epoch, assertMs('ttlMs', ttlMs)])
    if (row === undefined) throw new DriverLostError({ runId, epoch })
    return { expiresAt: number(row, 'lease_expires_at') }
  }

  release: DriverStore['release'] = async ({ runId, epoch }) => {
    assertFence({ runId, epoch })
    await this.#context.db.rows(releaseRun, [runId, epoch])
  }

  detach: DriverStore['detach'] = async ({ runId, epoch, sandboxKey }) => {
    if (sandboxKey !== undefined) assertId('sandboxKey', sandboxKey)
    assertFence({ runId, epoch })
    const row = await this.#context.db.row(detachRun, [runId, epoch, sandboxKey ?? null])
    return row !== undefined
  }

  finish: DriverStore['finish'] = async (input) => {
    const { runId, epoch, status, error, usage } = input
    assertFence(input)
    finishPatch(input, 0)
    const json = (value: unknown): string | null => (value === undefined ? null : encodeExactJson(value))
    const row = await this.#context.db.row(finishRun, [runId, epoch, status, json(error), json(usage)])
    return row !== undefined
  }

  listOrphaned: DriverStore['listOrphaned'] = async ({ now, graceMs, limit }) => {
    if (now !== undefined) assertMs('now', now)
    return this.#records(listOrphanedRuns, [now ?? null, assertMs('graceMs', graceMs), assertPageSize(limit, limit)])
  }

  list: DriverStore['list'] = async (input) => {
    const { threadId, ownerId, status, limit } = input
    assertPageSize(limit, limit)
    if (threadId !== undefined) assertId('threadId', threadId)
    if (ownerId !== undefined) assertId('ownerId', ownerId)
    if (status !== undefined) assertRunStatus(status)
    return this.#records(...listRuns(input))
  }

  findDrivers: NonNullable<DriverStore['findDrivers']> = async ({ runIds }) => {
    const rows = await this.#context.db.rows(findDrivers, [JSON.stringify(assertRunIds(runIds))])
    return rows.map(driverInfo)
  }

  requestCancel: DriverStore['requestCancel'] = async ({ runId, keepSandbox = false }) => {
    assertId('runId', runId)
    const { db, hub, channel } = this.#context
    const token = topicToken({ kind: 'cancel', id: runId })
    await db.rows(requestCancel, [runId, keepSandbox, channel, encodeWakes([token])])
    hub.wake([token])
  }

  onCancel: DriverStore['onCancel'] = async (runId, signal) => {
    assertId('runId', runId)
    const watch = this.#context.hub.watch({ kind: 'cancel', id: runId })
    try {
      for (;;) {
        signal.throwIfAborted()
        const request = await this.findCancel(runId)
        if (request !== null) return request
        await watch.next(signal)
      }
    } finally {
      watch.stop()
    }
  }

  findCancel: DriverStore['findCancel'] = async (runId) => {
    assertId('runId', runId)
    const row = await this.#context.db.row(findCancel, [runId])
    return row === undefined ? null : ({ runId, keepSandbox: row['keep_sandbox'] === true } satisfies CancelRequest)
  }

  async #tryClaim(params: Parameters<StoreContext['db']['row']>[1]): Promise<Row | undefined> {
    try {
      return await this.#context.db.row(claimRun, params)
    } catch (error) {
      if (violatedConstraint(error) === 'runs_thread_holder') return undefined
      throw error
    }
  }

  async #records(...query: Parameters<StoreContext['db']['rows']>): Promise<RunRecord[]> {
    const rows = await this.#context.db.rows(...query)
    return rows.map(runRecord)
  }
}

function driverClaim(row: Row): DriverClaim {
  return {
    epoch: number(row, 'driver_epoch'),
    expiresAt: number(row, 'lease_expires_at'),
    created: row['created'] === true,
  }
}

function driverInfo(row: Row): DriverInfo {
  return {
    runId: text(row, 'run_id'),
    epoch: number(row, 'driver_epoch'),
    owner: text(row, 'driver_owner'),
    expiresAt: number(row, 'lease_expires_at'),
    isLive: isTrue(row, 'is_live'),
  }
}
