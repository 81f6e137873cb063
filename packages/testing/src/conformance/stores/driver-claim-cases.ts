import assert from 'node:assert/strict'
import { claim, recordOf, TTL_MS } from './driver-subject.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'

export const driverClaimCases: readonly StoreCase[] = [
  storeCase(
    'driver.claim.makes-the-record',
    'the first claim makes a running record under epoch 1',
    async ({ stores }) => {
      const first = await claim(stores.drivers)
      assert.equal(first.epoch, 1)
      assert.equal(first.created, true)
      const { startedAt, ...record } = await recordOf(stores)
      assert.deepEqual(record, { runId: 'run-1', threadId: 'thread-1', status: 'running', driverEpoch: 1 })
      const leaseMs = first.expiresAt - startedAt
      assert.ok(Math.abs(leaseMs - TTL_MS) < 1_000, 'record and lease are timed by the same clock')
    },
  ),
  storeCase(
    'driver.claim.takes-an-existing-record',
    'a claim of a recorded run keeps its fields',
    async ({ stores }) => {
      await stores.runs.createOrResume({ runId: 'run-1', threadId: 'thread-1', startedAt: 77 })
      const { epoch, created } = await claim(stores.drivers)
      assert.deepEqual({ epoch, created }, { epoch: 1, created: false })
      assert.deepEqual(await recordOf(stores), {
        runId: 'run-1',
        threadId: 'thread-1',
        startedAt: 77,
        status: 'running',
        driverEpoch: 1,
      })
    },
  ),
  storeCase(
    'driver.claim.sets-the-sandbox-key',
    'a claim sets the sandbox key when given and leaves it when not',
    async ({ stores }) => {
      await claim(stores.drivers, { sandboxKey: 'key-1' })
      assert.equal((await recordOf(stores)).sandboxKey, 'key-1')
      await claim(stores.drivers)
      assert.equal((await recordOf(stores)).sandboxKey, 'key-1')
      await claim(stores.drivers, { sandboxKey: 'key-2' })
      assert.equal((await recordOf(stores)).sandboxKey, 'key-2')
    },
  ),
  storeCase(
    'driver.claim.same-owner-again',
    'the same owner may claim again while its lease is live, one epoch higher',
    async ({ stores }) => {
      await claim(stores.drivers)
      const again = await claim(stores.drivers)
      assert.deepEqual({ epoch: again.epoch, created: again.created }, { epoch: 2, created: false })
      assert.equal((await recordOf(stores)).driverEpoch, 2)
    },
  ),
  storeCase(
    'driver.claim.after-expiry',
    'another owner may claim once the lease has expired',
    async ({ stores, advance }) => {
      await claim(stores.drivers)
      await advance(TTL_MS + 1)
      const taken = await claim(stores.drivers, { owner: 'host-b' })
      assert.deepEqual({ epoch: taken.epoch, created: taken.created }, { epoch: 2, created: false })
    },
  ),
  storeCase('driver.claim.clears-detached-since', 'a claim clears detachedSince', async ({ stores }) => {
    const { epoch } = await claim(stores.drivers)
    await stores.drivers.detach({ runId: 'run-1', epoch })
    await claim(stores.drivers)
    assert.ok(!Object.hasOwn(await recordOf(stores), 'detachedSince'))
  }),
  storeCase(
    'driver.claim.continues-an-interrupted-run',
    'an interrupted run may be claimed again and is then running',
    async ({ stores }) => {
      const { epoch } = await claim(stores.drivers)
      await stores.drivers.finish({ runId: 'run-1', epoch, status: 'interrupted' })
      const next = await claim(stores.drivers, { owner: 'host-b' })
      assert.equal(next.epoch, 2)
      assert.equal((await recordOf(stores)).status, 'running')
    },
  ),
  storeCase(
    'driver.claim.raises-the-epoch-by-one',
    'each claim raises the epoch by one',
    async ({ stores, advance }) => {
      for (let expected = 1; expected <= 5; expected += 1) {
        assert.equal((await claim(stores.drivers, { owner: `host-${expected}` })).epoch, expected)
        await advance(TTL_MS + 1)
      }
    },
  ),
]

export const driverLeaseCases: readonly StoreCase[] = [
  storeCase('driver.renew.extends', 'renew extends the lease by the store clock', async ({ stores, advance }) => {
    const { epoch, expiresAt } = await claim(stores.drivers)
    await advance(TTL_MS - 5_000)
    const renewed = await stores.drivers.renew({ runId: 'run-1', epoch, ttlMs: TTL_MS })
    assert.ok(renewed.expiresAt >= expiresAt + TTL_MS - 5_000, 'expiresAt moves with the time of the renewal')
    await advance(TTL_MS - 5_000)
    await assert.rejects(claim(stores.drivers, { owner: 'host-b' }), { code: 'DRIVER_HELD' })
    await advance(5_001)
    assert.equal((await claim(stores.drivers, { owner: 'host-b' })).epoch, 2)
  }),
  storeCase(
    'driver.renew.expired-but-not-taken',
    'an expired lease that nobody took is renewed',
    async ({ stores, advance }) => {
      const { epoch } = await claim(stores.drivers)
      await advance(TTL_MS * 3)
      await stores.drivers.renew({ runId: 'run-1', epoch, ttlMs: TTL_MS })
      await assert.rejects(claim(stores.drivers, { owner: 'host-b' }), { code: 'DRIVER_HELD' })
    },
  ),
  storeCase(
    'driver.renew.superseded',
    'renew under a stale epoch is refused with DRIVER_LOST',
    async ({ stores, advance }) => {
      const { epoch } = await claim(stores.drivers)
      await advance(TTL_MS + 1)
      await claim(stores.drivers, { owner: 'host-b' })
      await assert.rejects(stores.drivers.renew({ runId: 'run-1', epoch, ttlMs: 10 * TTL_MS }), { code: 'DRIVER_LOST' })
      await advance(TTL_MS + 1)
      assert.equal(
        (await claim(stores.drivers, { owner: 'host-c' })).epoch,
        3,
        "the successor's lease was not extended",
      )
    },
  ),
  storeCase('driver.renew.ended', 'renew of a run that has ended is refused with DRIVER_LOST', async ({ stores }) => {
    const { epoch } = await claim(stores.drivers)
    await stores.drivers.finish({ runId: 'run-1', epoch, status: 'completed' })
    await assert.rejects(stores.drivers.renew({ runId: 'run-1', epoch, ttlMs: TTL_MS }), { code: 'DRIVER_LOST' })
    const unknown = stores.drivers.renew({ runId: 'nothing', epoch: 1, ttlMs: TTL_MS })
    await assert.rejects(unknown, { code: 'DRIVER_LOST' })
  }),
  storeCase(
    'driver.release.ends-the-lease',
    'release ends the lease at once and does not end the run',
    async ({ stores }) => {
      const { epoch } = await claim(stores.drivers)
      await stores.drivers.release({ runId: 'run-1', epoch })
      await stores.drivers.release({ runId: 'run-1', epoch })
      assert.equal((await recordOf(stores)).status, 'running')
      assert.equal((await claim(stores.drivers, { owner: 'host-b' })).epoch, 2)
    },
  ),
  storeCase(
    'driver.release.stale-changes-nothing',
    'release under a stale epoch changes nothing',
    async ({ stores }) => {
      const { epoch } = await claim(stores.drivers)
      await claim(stores.drivers)
      await stores.drivers.release({ runId: 'run-1', epoch })
      await stores.drivers.release({ runId: 'nothing', epoch })
      await assert.rejects(claim(stores.drivers, { owner: 'host-b' }), { code: 'DRIVER_HELD' })
    },
  ),
  storeCase(
    'driver.detach.sets-the-time',
    "detach sets detachedSince to the store's time, the first time",
    async ({ stores, advance }) => {
      const { epoch, expiresAt } = await claim(stores.drivers)
      await advance(1_000)
      assert.equal(await stores.drivers.detach({ runId: 'run-1', epoch, sandboxKey: 'key-1' }), true)
      const first = await recordOf(stores)
      assert.equal(first.status, 'running')
      assert.equal(first.sandboxKey, 'key-1')
      assert.ok((first.detachedSince ?? 0) >= expiresAt - TTL_MS + 1_000)
      await advance(1_000)
      assert.equal(await stores.drivers.detach({ runId: 'run-1', epoch }), true)
      assert.deepEqual(await recordOf(stores), first)
    },
  ),
  storeCase(
    'driver.detach.superseded-or-ended',
    'detach is false and changes nothing when superseded or ended',
    async ({ stores }) => {
      const { epoch } = await claim(stores.drivers)
      const next = await claim(stores.drivers)
      assert.equal(await stores.drivers.detach({ runId: 'run-1', epoch, sandboxKey: 'stale' }), false)
      assert.ok(!Object.hasOwn(await recordOf(stores), 'detachedSince'))
      await stores.drivers.finish({ runId: 'run-1', epoch: next.epoch, status: 'completed' })
      const ended = await recordOf(stores)
      assert.equal(await stores.drivers.detach({ runId: 'run-1', epoch: next.epoch }), false)
      assert.deepEqual(await recordOf(stores), ended)
      assert.equal(await stores.drivers.detach({ runId: 'nothing', epoch: 1 }), false)
    },
  ),
]
