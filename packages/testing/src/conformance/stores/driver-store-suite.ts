import assert from 'node:assert/strict'
import type { RunRecord } from '@holdfast/core'
import type { ConformanceSuite } from '../conformance-suite.ts'
import type { StoreSubject } from '../store-subject.ts'
import { BAD_EPOCHS, BAD_LIMITS, BAD_TIMES, refusesBadArguments, refusesBadIds, refusesClosed } from './bad-input.ts'
import { driverCancelCases } from './driver-cancel-cases.ts'
import { driverClaimCases, driverLeaseCases } from './driver-claim-cases.ts'
import { driverFinishCases } from './driver-finish-cases.ts'
import { driverRefusalCases } from './driver-refusal-cases.ts'
import { claim, claimInput, hostAt, hostsOf, TTL_MS } from './driver-subject.ts'
import { required } from './required.ts'
import { advanceUntil, meanwhile } from './soon.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'

const CLAIMERS = 50
const NEVER = new AbortController().signal

const inputCases: readonly StoreCase[] = [
  storeCase('driver.ids.bad-ones-are-refused', 'malformed ids are refused with INVALID_ID', async ({ stores }) => {
    const { drivers } = stores
    await refusesBadIds({
      'claim runId': (runId) => drivers.claim(claimInput({ runId })),
      'claim threadId': (threadId) => drivers.claim(claimInput({ threadId })),
      'claim owner': (owner) => drivers.claim(claimInput({ owner })),
      'claim sandboxKey': (sandboxKey) => drivers.claim(claimInput({ sandboxKey })),
      renew: (runId) => drivers.renew({ runId, epoch: 1, ttlMs: 1 }),
      release: (runId) => drivers.release({ runId, epoch: 1 }),
      detach: (runId) => drivers.detach({ runId, epoch: 1 }),
      finish: (runId) => drivers.finish({ runId, epoch: 1, status: 'failed' }),
      'list threadId': (threadId) => drivers.list({ threadId, limit: 1 }),
      'list ownerId': (ownerId) => drivers.list({ ownerId, limit: 1 }),
      requestCancel: (runId) => drivers.requestCancel({ runId }),
      onCancel: (runId) => drivers.onCancel(runId, NEVER),
      findCancel: (runId) => drivers.findCancel(runId),
    })
    assert.equal(await stores.runs.get('run-1'), null)
  }),
  storeCase(
    'driver.numbers.bad-ones-are-refused',
    'bad times, epochs and limits are refused with INVALID_ARGUMENT',
    async ({ stores }) => {
      const { drivers } = stores
      await refusesBadArguments(BAD_TIMES, { 'claim ttlMs': (ttlMs) => drivers.claim(claimInput({ ttlMs })) })
      assert.equal(await stores.runs.get('run-1'), null)
      const { epoch } = await claim(drivers)
      await refusesBadArguments(BAD_TIMES, {
        'renew ttlMs': (ttlMs) => drivers.renew({ runId: 'run-1', epoch, ttlMs }),
        'listOrphaned now': (now) => drivers.listOrphaned({ now, graceMs: 1, limit: 1 }),
        'listOrphaned graceMs': (graceMs) => drivers.listOrphaned({ graceMs, limit: 1 }),
      })
      await refusesBadArguments(BAD_EPOCHS, {
        renew: (bad) => drivers.renew({ runId: 'run-1', epoch: bad, ttlMs: 1 }),
        release: (bad) => drivers.release({ runId: 'run-1', epoch: bad }),
        detach: (bad) => drivers.detach({ runId: 'run-1', epoch: bad }),
        finish: (bad) => drivers.finish({ runId: 'run-1', epoch: bad, status: 'failed' }),
      })
      await refusesBadArguments(BAD_LIMITS, {
        list: (limit) => drivers.list({ limit }),
        listOrphaned: (limit) => drivers.listOrphaned({ graceMs: 0, limit }),
      })
    },
  ),
  storeCase(
    'driver.words.unknown-ones-are-refused',
    'statuses and purposes that do not exist are refused',
    async ({ stores: { drivers } }) => {
      const { epoch } = await claim(drivers)
      await refusesBadArguments(['running', 'done', 'constructor'], {
        finish: (status) => drivers.finish({ runId: 'run-1', epoch, status: status as 'failed' }),
      })
      await refusesBadArguments(['done'], {
        list: (status) => drivers.list({ status: status as RunRecord['status'], limit: 1 }),
        claim: (purpose) => drivers.claim(claimInput({ purpose: purpose as 'drive' })),
      })
    },
  ),
]

const stateCases: readonly StoreCase[] = [
  storeCase('driver.closed', 'every call after close is refused with STORE_CLOSED', async ({ stores }) => {
    const { drivers } = stores
    await stores.close()
    const fence = { runId: 'run-1', epoch: 1 }
    await refusesClosed({
      claim: () => claim(drivers),
      renew: () => drivers.renew({ ...fence, ttlMs: 1 }),
      release: () => drivers.release(fence),
      detach: () => drivers.detach(fence),
      finish: () => drivers.finish({ ...fence, status: 'failed' }),
      listOrphaned: () => drivers.listOrphaned({ graceMs: 0, limit: 1 }),
      list: () => drivers.list({ limit: 1 }),
      requestCancel: () => drivers.requestCancel({ runId: 'run-1' }),
      onCancel: () => drivers.onCancel('run-1', NEVER),
      findCancel: () => drivers.findCancel('run-1'),
    })
  }),
  storeCase(
    'driver.reopened',
    'leases, epochs and cancel requests outlive a close',
    async (subject) => {
      await claim(subject.stores.drivers)
      await subject.stores.drivers.requestCancel({ runId: 'run-1', keepSandbox: true })
      const { drivers } = await required(subject.reopen, 'reopen')()
      assert.deepEqual(await drivers.findCancel('run-1'), { runId: 'run-1', keepSandbox: true })
      const finalize = { owner: 'host-b', purpose: 'finalize' } as const
      await assert.rejects(claim(drivers, finalize), { code: 'DRIVER_HELD' })
      await subject.advance(TTL_MS + 1)
      assert.equal((await claim(drivers, finalize)).epoch, 2)
    },
    ['reopen'],
  ),
]

const concurrentCases: readonly StoreCase[] = [
  storeCase(
    'driver.concurrent.one-driver-per-epoch',
    'of many hosts that claim one run, one drives it in each epoch',
    async (subject) => {
      const hosts = await hostsOf(subject, 4)
      for (let epoch = 1; epoch <= 3; epoch += 1) {
        const claims = Array.from({ length: CLAIMERS }, (_, index) =>
          claim(hostAt(hosts, index).drivers, { owner: `host-${epoch}-${index}` }),
        )
        const results = await Promise.allSettled(claims)
        const accepted = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.epoch] : []))
        assert.deepEqual(accepted, [epoch])
        for (const result of results) {
          if (result.status === 'rejected') assert.equal((result.reason as { code?: string }).code, 'DRIVER_HELD')
        }
        await subject.advance(TTL_MS + 1)
      }
    },
    ['concurrent'],
  ),
  storeCase(
    'driver.concurrent.one-run-per-thread',
    'of many hosts that claim runs on one thread, one is accepted',
    async (subject) => {
      const hosts = await hostsOf(subject, 4)
      const ids = Array.from({ length: CLAIMERS }, (_, index) => `run-${index}`)
      const results = await Promise.allSettled(
        ids.map((runId, index) => claim(hostAt(hosts, index).drivers, { runId, owner: runId })),
      )
      assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
      for (const result of results) {
        if (result.status === 'rejected') assert.equal((result.reason as { code?: string }).code, 'THREAD_BUSY')
      }
      assert.equal((await subject.stores.drivers.list({ threadId: 'thread-1', limit: 100 })).length, 1)
    },
    ['concurrent'],
  ),
  storeCase(
    'driver.concurrent.one-finish',
    'of many that finish under one epoch, one is accepted',
    async (subject) => {
      const hosts = await hostsOf(subject, 4)
      const { epoch } = await claim(subject.stores.drivers)
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          hostAt(hosts, index).drivers.finish({
            runId: 'run-1',
            epoch,
            status: index % 2 === 0 ? 'completed' : 'failed',
          }),
        ),
      )
      assert.equal(results.filter(Boolean).length, 1)
    },
    ['concurrent'],
  ),
  storeCase(
    'driver.concurrent.cancel-is-heard',
    'a cancel from one host wakes the driver on another',
    async (subject) => {
      const [here, there] = await hostsOf(subject, 2)
      await claim(required(here, 'a host').drivers)
      const waiting = meanwhile(required(there, 'a host').drivers.onCancel('run-1', NEVER))
      await required(here, 'a host').drivers.requestCancel({ runId: 'run-1' })
      const request = await advanceUntil(subject, waiting, { stepMs: 500, withinMs: 2_500, what: 'the wake-up' })
      assert.equal(request.runId, 'run-1')
    },
    ['concurrent'],
  ),
]

/** The contract of `DriverStore`. */
export const driverStoreSuite: ConformanceSuite<StoreSubject> = {
  name: 'DriverStore',
  cases: [
    ...driverClaimCases,
    ...driverRefusalCases,
    ...driverLeaseCases,
    ...driverFinishCases,
    ...driverCancelCases,
    ...inputCases,
    ...stateCases,
    ...concurrentCases,
  ],
}
