import assert from 'node:assert/strict'
import type { ErrorCode, HoldfastErrorLike, HoldfastStores, TerminalRunStatus } from '@holdfast/core'
import { claim, TTL_MS } from './driver-subject.ts'
import { rejectsWith } from './rejects-with.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'

type ClaimInput = Parameters<typeof claim>[1]

/** The claim must be refused with `code` and must leave record, lease and epoch as they were. */
async function refusesClaim(stores: HoldfastStores, code: ErrorCode, input: ClaimInput): Promise<HoldfastErrorLike> {
  const runId = input?.runId ?? 'run-1'
  const before = await stores.runs.get(runId)
  const error = await rejectsWith(code, () => claim(stores.drivers, { sandboxKey: 'refused', ...input }))
  assert.deepEqual(await stores.runs.get(runId), before, 'a refused claim leaves nothing behind')
  return error
}

async function endRun(stores: HoldfastStores, status: TerminalRunStatus, runId = 'run-1'): Promise<void> {
  const { epoch } = await claim(stores.drivers, { runId })
  assert.equal(await stores.drivers.finish({ runId, epoch, status }), true)
}

export const driverRefusalCases: readonly StoreCase[] = [
  storeCase(
    'driver.claim.run-conflict',
    'a run id of another thread is refused with RUN_CONFLICT, before all else',
    async ({ stores }) => {
      await claim(stores.drivers)
      await refusesClaim(stores, 'RUN_CONFLICT', { threadId: 'thread-2', owner: 'host-b' })
      await stores.drivers.requestCancel({ runId: 'run-1' })
      await refusesClaim(stores, 'RUN_CONFLICT', { threadId: 'thread-2' })
      await stores.drivers.finish({ runId: 'run-1', epoch: 1, status: 'aborted' })
      await refusesClaim(stores, 'RUN_CONFLICT', { threadId: 'thread-2' })
    },
  ),
  storeCase(
    'driver.claim.run-terminal',
    'a run that has ended is refused with RUN_TERMINAL, also to finalize it',
    async ({ stores }) => {
      for (const status of ['completed', 'failed', 'aborted'] as const) {
        await endRun(stores, status, status)
        await refusesClaim(stores, 'RUN_TERMINAL', { runId: status })
        await refusesClaim(stores, 'RUN_TERMINAL', { runId: status, purpose: 'finalize' })
      }
    },
  ),
  storeCase('driver.claim.terminal-before-cancelled', 'RUN_TERMINAL comes before RUN_CANCELLED', async ({ stores }) => {
    const { epoch } = await claim(stores.drivers)
    await stores.drivers.requestCancel({ runId: 'run-1' })
    await stores.drivers.finish({ runId: 'run-1', epoch, status: 'aborted' })
    await refusesClaim(stores, 'RUN_TERMINAL', {})
  }),
  storeCase(
    'driver.claim.run-cancelled',
    'a cancelled run is refused with RUN_CANCELLED, before DRIVER_HELD',
    async ({ stores }) => {
      await claim(stores.drivers)
      await stores.drivers.requestCancel({ runId: 'run-1' })
      await refusesClaim(stores, 'RUN_CANCELLED', {})
      await refusesClaim(stores, 'RUN_CANCELLED', { owner: 'host-b', purpose: 'drive' })
    },
  ),
  storeCase(
    'driver.claim.finalize-accepts-cancelled',
    'a claim to finalize accepts a cancelled run',
    async ({ stores, advance }) => {
      await claim(stores.drivers)
      await stores.drivers.requestCancel({ runId: 'run-1' })
      await refusesClaim(stores, 'DRIVER_HELD', { owner: 'host-b', purpose: 'finalize' })
      await advance(TTL_MS + 1)
      const { epoch } = await claim(stores.drivers, { owner: 'host-b', purpose: 'finalize' })
      assert.equal(epoch, 2)
      assert.equal(await stores.drivers.finish({ runId: 'run-1', epoch, status: 'aborted' }), true)
    },
  ),
  storeCase(
    'driver.claim.driver-held',
    'a live lease of another owner is refused with DRIVER_HELD',
    async ({ stores, advance }) => {
      await claim(stores.drivers)
      await refusesClaim(stores, 'DRIVER_HELD', { owner: 'host-b' })
      await advance(TTL_MS - 5_000)
      await refusesClaim(stores, 'DRIVER_HELD', { owner: 'host-b' })
      await stores.drivers.renew({ runId: 'run-1', epoch: 1, ttlMs: TTL_MS })
    },
  ),
  storeCase(
    'driver.claim.thread-busy',
    'a thread that another run holds is refused with THREAD_BUSY',
    async ({ stores, advance }) => {
      await claim(stores.drivers)
      const live = await refusesClaim(stores, 'THREAD_BUSY', { runId: 'run-2' })
      assert.deepEqual(live.details, { threadId: 'thread-1', activeRunId: 'run-1', orphaned: false })
      await advance(TTL_MS + 1)
      const orphaned = await refusesClaim(stores, 'THREAD_BUSY', { runId: 'run-2', owner: 'host-b' })
      assert.deepEqual(orphaned.details, { threadId: 'thread-1', activeRunId: 'run-1', orphaned: true })
      assert.equal(await stores.runs.get('run-2'), null)
    },
  ),
  storeCase(
    'driver.claim.thread-busy-for-a-recorded-run',
    'a refused claim of a recorded run leaves its record as it was',
    async ({ stores }) => {
      await stores.runs.createOrResume({ runId: 'run-2', threadId: 'thread-1', startedAt: 1, status: 'interrupted' })
      await claim(stores.drivers)
      await refusesClaim(stores, 'THREAD_BUSY', { runId: 'run-2' })
    },
  ),
  storeCase(
    'driver.claim.released-still-holds',
    'a released run still holds its thread, as an orphan',
    async ({ stores }) => {
      const { epoch } = await claim(stores.drivers)
      await stores.drivers.release({ runId: 'run-1', epoch })
      const error = await refusesClaim(stores, 'THREAD_BUSY', { runId: 'run-2' })
      assert.equal(error.details['orphaned'], true)
    },
  ),
  storeCase(
    'driver.claim.unclaimed-records-hold-nothing',
    'running records that were never claimed do not hold the thread',
    async ({ stores }) => {
      await stores.runs.createOrResume({ runId: 'run-0', threadId: 'thread-1', startedAt: 1 })
      assert.equal((await claim(stores.drivers)).created, true)
      const error = await refusesClaim(stores, 'THREAD_BUSY', { runId: 'run-0' })
      assert.equal(error.details['activeRunId'], 'run-1')
    },
  ),
  storeCase(
    'driver.claim.thread-is-free-again',
    'a thread is free once its run has ended or paused, however that was written',
    async ({ stores }) => {
      for (const status of ['completed', 'failed', 'aborted', 'interrupted'] as const) {
        const { epoch } = await claim(stores.drivers, { runId: status })
        await stores.drivers.finish({ runId: status, epoch, status })
      }
      await claim(stores.drivers, { runId: 'by-update' })
      await stores.runs.update('by-update', { status: 'completed', finishedAt: 1 })
      assert.equal((await claim(stores.drivers, { runId: 'last' })).created, true)
    },
  ),
  storeCase(
    'driver.claim.other-threads-are-free',
    'a held thread does not keep other threads from being claimed',
    async ({ stores }) => {
      await claim(stores.drivers)
      assert.equal((await claim(stores.drivers, { runId: 'run-2', threadId: 'thread-2' })).epoch, 1)
    },
  ),
  storeCase(
    'driver.claim.one-of-many-at-once',
    'of many simultaneous claims on one thread exactly one is accepted',
    async ({ stores }) => {
      const ids = Array.from({ length: 20 }, (_, index) => `run-${index}`)
      const results = await Promise.allSettled(ids.map((runId) => claim(stores.drivers, { runId, owner: runId })))
      assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
      const records = await Promise.all(ids.map((runId) => stores.runs.get(runId)))
      assert.equal(records.filter((record) => record !== null).length, 1, 'the refused leave no record')
    },
  ),
]
