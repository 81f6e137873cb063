import assert from 'node:assert/strict'
import type { HoldfastStores, InterruptCommit, InterruptRecord } from '@holdfast/core'
import type { ConformanceSuite } from '../conformance-suite.ts'
import type { StoreSubject } from '../store-subject.ts'
import { BAD_TIMES, ODD_IDS, refusesBadArguments, refusesBadIds, refusesClosed } from './bad-input.ts'
import { hostAt, hostsOf } from './driver-subject.ts'
import { rejectsWith } from './rejects-with.ts'
import { required } from './required.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'

type NewInterrupt = Parameters<HoldfastStores['interrupts']['create']>[0]

function newInterrupt(input: Partial<NewInterrupt> = {}): NewInterrupt {
  return {
    interruptId: 'interrupt-1',
    runId: 'run-1',
    threadId: 'thread-1',
    requestedAt: 1_000,
    payload: { tool: 'bash', input: { command: 'nul \0 \ud800' } },
    ...input,
  }
}

async function storeMany({ interrupts }: HoldfastStores, inputs: readonly Partial<NewInterrupt>[]): Promise<void> {
  for (const input of inputs) await interrupts.create(newInterrupt(input))
}

async function recordOf({ interrupts }: HoldfastStores, interruptId = 'interrupt-1'): Promise<InterruptRecord> {
  return required(await interrupts.get(interruptId), interruptId)
}

const idsOf = (records: readonly InterruptRecord[]): string[] => records.map(({ interruptId }) => interruptId)

const recordCases: readonly StoreCase[] = [
  storeCase('interrupt.create', 'create stores a pending record', async ({ stores }) => {
    await stores.interrupts.create(newInterrupt())
    assert.deepEqual(await recordOf(stores), { ...newInterrupt(), status: 'pending' })
    assert.equal(await stores.interrupts.get('nothing'), null)
  }),
  storeCase(
    'interrupt.create.keeps-an-existing-one',
    'create leaves a record whose id exists as it is',
    async ({ stores }) => {
      await stores.interrupts.create(newInterrupt())
      await stores.interrupts.create(newInterrupt({ runId: 'run-2', requestedAt: 5_000, payload: {} }))
      assert.deepEqual(await recordOf(stores), { ...newInterrupt(), status: 'pending' })
      await stores.interrupts.cancel('interrupt-1')
      await stores.interrupts.create(newInterrupt())
      assert.equal((await recordOf(stores)).status, 'cancelled')
    },
  ),
  storeCase('interrupt.resolve', "resolve stores the response and the store's time", async ({ stores }) => {
    for (const [index, response] of [{ approved: true, note: '\0' }, 'text', false, null, [1]].entries()) {
      const interruptId = `interrupt-${index}`
      await stores.interrupts.create(newInterrupt({ interruptId }))
      await stores.interrupts.resolve(interruptId, response)
      const { resolvedAt, ...record } = await recordOf(stores, interruptId)
      assert.deepEqual(record, { ...newInterrupt({ interruptId }), status: 'resolved', response })
      assert.ok(Number.isFinite(resolvedAt))
    }
  }),
  storeCase('interrupt.resolve.without-response', 'resolve without a response leaves it absent', async ({ stores }) => {
    await stores.interrupts.create(newInterrupt())
    await stores.interrupts.resolve('interrupt-1')
    const { resolvedAt: _resolvedAt, ...record } = await recordOf(stores)
    assert.deepEqual(record, { ...newInterrupt(), status: 'resolved' })
  }),
  storeCase('interrupt.cancel', 'cancel ends a pending interrupt', async ({ stores }) => {
    await stores.interrupts.create(newInterrupt())
    await stores.interrupts.cancel('interrupt-1')
    const { resolvedAt: _resolvedAt, ...record } = await recordOf(stores)
    assert.deepEqual(record, { ...newInterrupt(), status: 'cancelled' })
  }),
  storeCase(
    'interrupt.answered-stays',
    'answering a missing or answered interrupt does nothing',
    async ({ stores, advance }) => {
      await storeMany(stores, [{ interruptId: 'resolved' }, { interruptId: 'cancelled' }])
      await stores.interrupts.resolve('resolved', 'first')
      await stores.interrupts.cancel('cancelled')
      await advance(1_000)
      for (const interruptId of ['resolved', 'cancelled']) {
        const before = await recordOf(stores, interruptId)
        await stores.interrupts.resolve(interruptId, 'second')
        await stores.interrupts.cancel(interruptId)
        assert.deepEqual(await recordOf(stores, interruptId), before)
      }
      await stores.interrupts.resolve('nothing', 1)
      await stores.interrupts.cancel('nothing')
      assert.equal(await stores.interrupts.get('nothing'), null)
    },
  ),
  storeCase('interrupt.copies', 'records are copies on the way in and out', async ({ stores }) => {
    const payload = { list: ['as given'] }
    await stores.interrupts.create(newInterrupt({ payload }))
    payload.list.push('changed after')
    const read = await recordOf(stores)
    assert.deepEqual(read.payload, { list: ['as given'] })
    Reflect.get(read.payload, 'list').push('changed by a reader')
    assert.deepEqual((await recordOf(stores)).payload, { list: ['as given'] })
  }),
]

const listCases: readonly StoreCase[] = [
  storeCase(
    'interrupt.lists',
    'lists give what a thread or a run has, all or pending, by requestedAt, then id',
    async ({ stores }) => {
      await storeMany(stores, [
        { interruptId: 'd', requestedAt: 10_000 },
        { interruptId: 'b', requestedAt: 2_000, runId: 'run-2' },
        { interruptId: 'a', requestedAt: 2_000 },
        { interruptId: 'c', requestedAt: 900 },
        { interruptId: 'other', threadId: 'thread-2', runId: 'run-3', requestedAt: 1 },
      ])
      const { interrupts } = stores
      assert.deepEqual(idsOf(await interrupts.list('thread-1')), ['c', 'a', 'b', 'd'])
      assert.deepEqual(idsOf(await interrupts.listByRun('run-1')), ['c', 'a', 'd'])
      await interrupts.resolve('a', 1)
      await interrupts.cancel('d')
      assert.deepEqual(idsOf(await interrupts.listPending('thread-1')), ['c', 'b'])
      assert.deepEqual(idsOf(await interrupts.listPendingByRun('run-1')), ['c'])
      assert.deepEqual(idsOf(await interrupts.list('thread-1')), ['c', 'a', 'b', 'd'])
      assert.deepEqual(await interrupts.list('nothing'), [])
      assert.deepEqual(await interrupts.listPendingByRun('nothing'), [])
    },
  ),
  storeCase(
    'interrupt.batch',
    'commitBatch answers all of a batch',
    async ({ stores }) => {
      await storeMany(stores, [{ interruptId: 'a' }, { interruptId: 'b' }])
      const commit = required(stores.interrupts.commitBatch, 'commitBatch').bind(stores.interrupts)
      await commit([
        { interruptId: 'a', status: 'resolved', response: { approved: true } },
        { interruptId: 'b', status: 'cancelled' },
      ])
      assert.deepEqual((await recordOf(stores, 'a')).response, { approved: true })
      assert.equal((await recordOf(stores, 'b')).status, 'cancelled')
      await commit([])
    },
    ['interrupts.commitBatch'],
  ),
  storeCase(
    'interrupt.batch.all-or-none',
    'a batch with a duplicated, missing or answered entry is refused and stores nothing',
    async ({ stores }) => {
      await storeMany(stores, [{ interruptId: 'a' }, { interruptId: 'answered' }])
      await stores.interrupts.resolve('answered', 1)
      const commit = required(stores.interrupts.commitBatch, 'commitBatch').bind(stores.interrupts)
      const good: InterruptCommit = { interruptId: 'a', status: 'resolved', response: 1 }
      for (const interruptId of ['a', 'nothing', 'answered']) {
        const batch = [good, { interruptId, status: 'cancelled' } as const]
        await rejectsWith('INTERRUPT_CONFLICT', () => commit(batch), interruptId)
        assert.equal((await recordOf(stores, 'a')).status, 'pending')
      }
    },
    ['interrupts.commitBatch'],
  ),
]

const inputCases: readonly StoreCase[] = [
  storeCase(
    'interrupt.ids.odd-ones-are-kept-apart',
    'ids are compared exactly, whatever characters they have',
    async ({ stores }) => {
      await storeMany(
        stores,
        ODD_IDS.map((id) => ({ interruptId: id, runId: id, threadId: id })),
      )
      for (const id of ODD_IDS) {
        assert.equal((await recordOf(stores, id)).interruptId, id)
        assert.deepEqual(idsOf(await stores.interrupts.list(id)), [id])
        assert.deepEqual(idsOf(await stores.interrupts.listByRun(id)), [id])
      }
    },
  ),
  storeCase(
    'interrupt.input.bad-ones-are-refused',
    'malformed ids, times and values are refused, and nothing is stored',
    async ({ stores }) => {
      const { interrupts } = stores
      await refusesBadIds({
        'create interruptId': (interruptId) => interrupts.create(newInterrupt({ interruptId })),
        'create runId': (runId) => interrupts.create(newInterrupt({ runId })),
        'create threadId': (threadId) => interrupts.create(newInterrupt({ threadId })),
        resolve: (id) => interrupts.resolve(id),
        cancel: (id) => interrupts.cancel(id),
        get: (id) => interrupts.get(id),
        list: (id) => interrupts.list(id),
        listPending: (id) => interrupts.listPending(id),
        listByRun: (id) => interrupts.listByRun(id),
        listPendingByRun: (id) => interrupts.listPendingByRun(id),
      })
      await refusesBadArguments(BAD_TIMES, {
        requestedAt: (requestedAt) => interrupts.create(newInterrupt({ requestedAt })),
      })
      await rejectsWith('INVALID_CHUNK', () => interrupts.create(newInterrupt({ payload: { value: Number.NaN } })))
      assert.equal(await interrupts.get('interrupt-1'), null)
      await interrupts.create(newInterrupt())
      await rejectsWith('INVALID_CHUNK', () => interrupts.resolve('interrupt-1', [1n]))
      assert.equal((await recordOf(stores)).status, 'pending')
    },
  ),
  storeCase('interrupt.closed', 'every call after close is refused with STORE_CLOSED', async ({ stores }) => {
    const { interrupts } = stores
    await stores.close()
    await refusesClosed({
      create: () => interrupts.create(newInterrupt()),
      resolve: () => interrupts.resolve('interrupt-1'),
      cancel: () => interrupts.cancel('interrupt-1'),
      get: () => interrupts.get('interrupt-1'),
      list: () => interrupts.list('thread-1'),
      listPending: () => interrupts.listPending('thread-1'),
      listByRun: () => interrupts.listByRun('run-1'),
      listPendingByRun: () => interrupts.listPendingByRun('run-1'),
    })
  }),
  storeCase(
    'interrupt.reopened',
    'interrupts outlive a close',
    async (subject) => {
      await subject.stores.interrupts.create(newInterrupt())
      const reopened = await required(subject.reopen, 'reopen')()
      assert.deepEqual(await recordOf(reopened), { ...newInterrupt(), status: 'pending' })
    },
    ['reopen'],
  ),
  storeCase(
    'interrupt.concurrent.one-answer',
    'of many batches that answer the same interrupts, one is accepted',
    async (subject) => {
      const hosts = await hostsOf(subject, 4)
      await storeMany(subject.stores, [{ interruptId: 'a' }, { interruptId: 'b' }])
      const answers = Array.from({ length: 20 }, (_, index) => {
        const { interrupts } = hostAt(hosts, index)
        const entries = ['a', 'b'].map((interruptId) => ({ interruptId, status: 'resolved', response: index }) as const)
        const ordered = index % 2 === 0 ? entries : entries.toReversed()
        return required(interrupts.commitBatch, 'commitBatch').call(interrupts, ordered)
      })
      const results = await Promise.allSettled(answers)
      const accepted = results.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []))
      assert.equal(accepted.length, 1)
      for (const id of ['a', 'b']) assert.equal((await recordOf(subject.stores, id)).response, accepted[0])
    },
    ['concurrent', 'interrupts.commitBatch'],
  ),
]

/** The contract of `InterruptStore`. */
export const interruptStoreSuite: ConformanceSuite<StoreSubject> = {
  name: 'InterruptStore',
  cases: [...recordCases, ...listCases, ...inputCases],
}
