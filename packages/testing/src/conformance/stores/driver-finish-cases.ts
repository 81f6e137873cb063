import assert from 'node:assert/strict'
import { claim, recordOf, TTL_MS } from './driver-subject.ts'
import { rejectsWith } from './rejects-with.ts'
import { required } from './required.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'

const USAGE = { promptTokens: 1, completionTokens: 2, totalTokens: 3 }
const ids = (records: readonly { runId: string }[]): string[] => records.map(({ runId }) => runId)

const finishCases: readonly StoreCase[] = [
  storeCase(
    'driver.finish.writes-the-end',
    'finish writes status, time, error and usage',
    async ({ stores, advance }) => {
      for (const status of ['completed', 'failed', 'aborted'] as const) {
        const { epoch, expiresAt } = await claim(stores.drivers, { runId: status })
        await advance(1_000)
        const error = { message: 'nul \0 in it', code: 'some_code' }
        assert.equal(await stores.drivers.finish({ runId: status, epoch, status, error, usage: USAGE }), true)
        const record = await recordOf(stores, status)
        assert.equal(record.status, status)
        assert.deepEqual(record.error, error)
        assert.deepEqual(record.usage, USAGE)
        assert.ok((record.finishedAt ?? 0) >= expiresAt - TTL_MS + 1_000, "finishedAt is the store's time")
      }
    },
  ),
  storeCase('driver.finish.without-error', 'finish without error and usage leaves both absent', async ({ stores }) => {
    const { epoch } = await claim(stores.drivers)
    await stores.drivers.finish({ runId: 'run-1', epoch, status: 'completed' })
    const { startedAt: _startedAt, finishedAt: _finishedAt, ...rest } = await recordOf(stores)
    assert.deepEqual(rest, { runId: 'run-1', threadId: 'thread-1', status: 'completed', driverEpoch: 1 })
  }),
  storeCase(
    'driver.finish.interrupted',
    'interrupted pauses the run: no finishedAt, and lease and thread are free',
    async ({ stores }) => {
      const { epoch } = await claim(stores.drivers)
      assert.equal(await stores.drivers.finish({ runId: 'run-1', epoch, status: 'interrupted' }), true)
      const record = await recordOf(stores)
      assert.equal(record.status, 'interrupted')
      assert.ok(!Object.hasOwn(record, 'finishedAt'))
      const other = await claim(stores.drivers, { runId: 'run-2', owner: 'host-b' })
      await stores.drivers.finish({ runId: 'run-2', epoch: other.epoch, status: 'completed' })
      assert.equal((await claim(stores.drivers, { owner: 'host-b' })).epoch, 2)
    },
  ),
  storeCase(
    'driver.finish.first-result-stands',
    'finish again is false and the first result stands',
    async ({ stores }) => {
      const { epoch } = await claim(stores.drivers)
      await stores.drivers.finish({ runId: 'run-1', epoch, status: 'completed', usage: USAGE })
      const first = await recordOf(stores)
      const error = { message: 'too late' }
      assert.equal(await stores.drivers.finish({ runId: 'run-1', epoch, status: 'failed', error }), false)
      assert.equal(await stores.drivers.finish({ runId: 'run-1', epoch, status: 'interrupted' }), false)
      assert.deepEqual(await recordOf(stores), first)
    },
  ),
  storeCase(
    'driver.finish.stale-epoch',
    'finish under a stale epoch is false and changes nothing',
    async ({ stores, advance }) => {
      const { epoch } = await claim(stores.drivers)
      await advance(TTL_MS + 1)
      const next = await claim(stores.drivers, { owner: 'host-b' })
      const before = await recordOf(stores)
      assert.equal(await stores.drivers.finish({ runId: 'run-1', epoch, status: 'failed' }), false)
      assert.deepEqual(await recordOf(stores), before)
      await stores.drivers.renew({ runId: 'run-1', epoch: next.epoch, ttlMs: TTL_MS })
      assert.equal(await stores.drivers.finish({ runId: 'nothing', epoch: 1, status: 'failed' }), false)
      assert.equal(await stores.runs.get('nothing'), null)
    },
  ),
  storeCase(
    'driver.finish.expired-but-not-taken',
    'a driver whose lease expired may finish while nobody took the run',
    async ({ stores, advance }) => {
      const { epoch } = await claim(stores.drivers)
      await advance(TTL_MS * 2)
      assert.equal(await stores.drivers.finish({ runId: 'run-1', epoch, status: 'completed' }), true)
    },
  ),
]

const listCases: readonly StoreCase[] = [
  storeCase(
    'driver.orphaned.grace',
    'listOrphaned gives runs whose lease ended more than graceMs ago',
    async ({ stores, advance }) => {
      await claim(stores.drivers)
      const list = (graceMs: number) => stores.drivers.listOrphaned({ graceMs, limit: 10 }).then(ids)
      assert.deepEqual(await list(0), [])
      await advance(TTL_MS + 5_000)
      assert.deepEqual(await list(60_000), [])
      assert.deepEqual(await list(1_000), ['run-1'])
      await stores.drivers.renew({ runId: 'run-1', epoch: 1, ttlMs: TTL_MS })
      assert.deepEqual(await list(0), [])
    },
  ),
  storeCase('driver.orphaned.now', 'listOrphaned counts from the given time', async ({ stores }) => {
    const { expiresAt } = await claim(stores.drivers)
    const list = (now: number) => stores.drivers.listOrphaned({ now, graceMs: 1_000, limit: 10 }).then(ids)
    assert.deepEqual(await list(expiresAt + 1_000), [])
    assert.deepEqual(await list(expiresAt + 1_001), ['run-1'])
  }),
  storeCase('driver.orphaned.released', 'a released lease ended when it was released', async ({ stores, advance }) => {
    const { epoch } = await claim(stores.drivers, { ttlMs: 3_600_000 })
    await stores.drivers.release({ runId: 'run-1', epoch })
    await advance(5_000)
    assert.deepEqual(ids(await stores.drivers.listOrphaned({ graceMs: 1_000, limit: 10 })), ['run-1'])
  }),
  storeCase(
    'driver.orphaned.leaves-out',
    'listOrphaned leaves out detached, ended, paused and never claimed runs',
    async ({ stores, advance }) => {
      await stores.runs.createOrResume({ runId: 'never', threadId: 'never', startedAt: 1 })
      for (const runId of ['detached', 'completed', 'interrupted'] as const) {
        const { epoch } = await claim(stores.drivers, { runId, threadId: runId })
        if (runId === 'detached') await stores.drivers.detach({ runId, epoch })
        else await stores.drivers.finish({ runId, epoch, status: runId })
      }
      await advance(TTL_MS + 60_000)
      assert.deepEqual(await stores.drivers.listOrphaned({ graceMs: 0, limit: 10 }), [])
    },
  ),
  storeCase(
    'driver.orphaned.oldest-first',
    'listOrphaned gives the oldest end first, up to the limit',
    async ({ stores, advance }) => {
      for (const runId of ['b', 'c', 'a']) {
        await claim(stores.drivers, { runId, threadId: runId })
        await advance(1_000)
      }
      await advance(TTL_MS)
      const records = await stores.drivers.listOrphaned({ graceMs: 0, limit: 10 })
      assert.deepEqual(ids(records), ['b', 'c', 'a'])
      assert.deepEqual(records[0], await recordOf(stores, 'b'))
      assert.deepEqual(ids(await stores.drivers.listOrphaned({ graceMs: 0, limit: 2 })), ['b', 'c'])
    },
  ),
  storeCase(
    'driver.find-drivers',
    'findDrivers says who drives which run, and whether the lease is live',
    async ({ stores, advance }) => {
      const findDrivers = required(stores.drivers.findDrivers, 'findDrivers').bind(stores.drivers)
      await stores.runs.createOrResume({ runId: 'never', threadId: 'never', startedAt: 1 })
      const first = await claim(stores.drivers, { runId: 'lapsed', threadId: 'lapsed' })
      await advance(TTL_MS + 1_000)
      const ended = await claim(stores.drivers, { runId: 'ended', threadId: 'ended' })
      await stores.drivers.finish({ runId: 'ended', epoch: ended.epoch, status: 'completed' })
      const live = await claim(stores.drivers, { runId: 'live', threadId: 'live', owner: 'host-b' })
      const runIds = ['live', 'never', 'lapsed', 'ended', 'missing', 'live']
      const found = new Map((await findDrivers({ runIds })).map((driver) => [driver.runId, driver]))
      assert.deepEqual([...found.keys()].toSorted(), ['ended', 'lapsed', 'live'])
      const { expiresAt } = live
      assert.deepEqual(found.get('live'), { runId: 'live', epoch: 1, owner: 'host-b', expiresAt, isLive: true })
      assert.deepEqual(found.get('lapsed'), {
        runId: 'lapsed',
        epoch: 1,
        owner: 'host-a',
        expiresAt: first.expiresAt,
        isLive: false,
      })
      assert.equal(found.get('ended')?.isLive, false)
      assert.deepEqual(await findDrivers({ runIds: [] }), [])
      await rejectsWith('INVALID_ID', () => findDrivers({ runIds: [''] }), 'an empty id')
    },
    ['drivers.findDrivers'],
  ),
  storeCase(
    'driver.list.newest-first',
    'list gives the newest runs first, of all threads or one, by status',
    async ({ stores }) => {
      const rows = [
        { runId: 'b', threadId: 'one', startedAt: 2_000, status: 'running' },
        { runId: 'd', threadId: 'two', startedAt: 10_000, status: 'completed' },
        { runId: 'a', threadId: 'one', startedAt: 900, status: 'completed' },
        { runId: 'c', threadId: 'two', startedAt: 3_000, status: 'running' },
      ] as const
      for (const row of rows) await stores.runs.createOrResume(row)
      const { drivers } = stores
      assert.deepEqual(ids(await drivers.list({ limit: 10 })), ['d', 'c', 'b', 'a'])
      assert.deepEqual(ids(await drivers.list({ limit: 2 })), ['d', 'c'])
      assert.deepEqual(ids(await drivers.list({ threadId: 'one', limit: 10 })), ['b', 'a'])
      assert.deepEqual(ids(await drivers.list({ status: 'completed', limit: 10 })), ['d', 'a'])
      assert.deepEqual(ids(await drivers.list({ threadId: 'two', status: 'running', limit: 10 })), ['c'])
      assert.deepEqual(await drivers.list({ threadId: 'nothing', limit: 10 }), [])
    },
  ),
  storeCase(
    'driver.list.of-an-owner',
    "list gives an owner the runs of its own threads, as many as it asks for among other owners' newer ones",
    async ({ stores }) => {
      const { drivers, threads, runs } = stores
      const threadsOf = { anna: ['a-1', 'a-2'], bob: ['b-1'], nobody: ['lost'] }
      for (const ownerId of ['anna', 'bob'] as const) {
        for (const threadId of threadsOf[ownerId]) await threads.ensure({ threadId, ownerId })
      }
      const rows = Object.values(threadsOf).flatMap((owned, owner) =>
        owned.flatMap((threadId, thread) => [
          { runId: `${threadId}-old`, threadId, startedAt: 1_000 + 100 * owner + thread, status: 'completed' } as const,
          { runId: `${threadId}-new`, threadId, startedAt: 1_010 + 100 * owner + thread, status: 'running' } as const,
        ]),
      )
      for (const row of rows) await runs.createOrResume(row)
      const anna = { ownerId: 'anna', limit: 10 }
      assert.deepEqual(ids(await drivers.list(anna)), ['a-2-new', 'a-1-new', 'a-2-old', 'a-1-old'])
      assert.deepEqual(ids(await drivers.list({ ...anna, limit: 3 })), ['a-2-new', 'a-1-new', 'a-2-old'])
      assert.deepEqual(ids(await drivers.list({ ownerId: 'bob', limit: 10 })), ['b-1-new', 'b-1-old'])
      assert.deepEqual(ids(await drivers.list({ ...anna, status: 'completed', limit: 1 })), ['a-2-old'])
      assert.deepEqual(ids(await drivers.list({ ...anna, threadId: 'a-1' })), ['a-1-new', 'a-1-old'])
      assert.deepEqual(ids(await drivers.list({ ...anna, threadId: 'a-1', status: 'running' })), ['a-1-new'])
      assert.deepEqual(await drivers.list({ ...anna, threadId: 'b-1' }), [])
      assert.deepEqual(await drivers.list({ ...anna, threadId: 'lost' }), [])
      assert.deepEqual(await drivers.list({ ownerId: 'carol', limit: 10 }), [])
      assert.equal((await drivers.list({ limit: 10 })).length, rows.length)
    },
  ),
]

export const driverFinishCases: readonly StoreCase[] = [...finishCases, ...listCases]
