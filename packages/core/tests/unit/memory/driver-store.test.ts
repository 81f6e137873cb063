import { describe, expect, test } from 'vitest'
import { createMemoryStores } from '../../../src/index.ts'
import type { HoldfastStores } from '../../../src/index.ts'
import { ManualClock } from '../../support/manual-clock.ts'

function setUp(): { stores: HoldfastStores; clock: ManualClock } {
  const clock = new ManualClock()
  return { stores: createMemoryStores({ clock }), clock }
}

const claimOf = (runId: string, threadId = 't', owner = 'a') => ({ runId, threadId, owner, ttlMs: 1_000 })

describe('claim', () => {
  test('refusals come in the promised order and leave nothing behind', async () => {
    const { stores, clock } = setUp()
    const { drivers, runs } = stores
    await drivers.claim(claimOf('r1'))
    await expect(drivers.claim(claimOf('r1', 'other'))).rejects.toMatchObject({ code: 'RUN_CONFLICT' })
    await expect(drivers.claim(claimOf('r1', 't', 'b'))).rejects.toMatchObject({ code: 'DRIVER_HELD' })
    await expect(drivers.claim(claimOf('r2'))).rejects.toMatchObject({
      code: 'THREAD_BUSY',
      details: { activeRunId: 'r1', orphaned: false },
    })
    expect(await runs.get('r2')).toBeNull()
    await drivers.requestCancel({ runId: 'r1' })
    await expect(drivers.claim(claimOf('r1', 't', 'b'))).rejects.toMatchObject({ code: 'RUN_CANCELLED' })
    await expect(drivers.claim({ ...claimOf('r1', 't', 'b'), purpose: 'finalize' })).rejects.toMatchObject({
      code: 'DRIVER_HELD',
    })
    clock.advance(1_000)
    await expect(drivers.claim(claimOf('r2'))).rejects.toMatchObject({
      code: 'THREAD_BUSY',
      details: { orphaned: true },
    })
    expect(await drivers.claim({ ...claimOf('r1', 't', 'b'), purpose: 'finalize' })).toMatchObject({
      epoch: 2,
      created: false,
    })
    await drivers.finish({ runId: 'r1', epoch: 2, status: 'aborted' })
    await expect(drivers.claim(claimOf('r1'))).rejects.toMatchObject({ code: 'RUN_TERMINAL' })
    expect(await drivers.claim(claimOf('r2'))).toMatchObject({ epoch: 1, created: true })
  })

  test('the same owner may claim again, with a higher epoch, and detachedSince is cleared', async () => {
    const { stores } = setUp()
    await stores.drivers.claim(claimOf('r1'))
    expect(await stores.drivers.detach({ runId: 'r1', epoch: 1, sandboxKey: 'k' })).toBe(true)
    expect(await stores.runs.get('r1')).toMatchObject({ detachedSince: 1_000_000, sandboxKey: 'k' })
    expect(await stores.drivers.claim(claimOf('r1'))).toMatchObject({ epoch: 2 })
    const record = await stores.runs.get('r1')
    expect(record).toMatchObject({ driverEpoch: 2, status: 'running', sandboxKey: 'k' })
    expect(record).not.toHaveProperty('detachedSince')
  })

  test('a running record that nobody claimed does not hold the thread', async () => {
    const { stores } = setUp()
    await stores.runs.createOrResume({ runId: 'r1', threadId: 't', startedAt: 5 })
    expect(await stores.drivers.claim(claimOf('r2'))).toMatchObject({ created: true })
    await expect(stores.drivers.claim(claimOf('r1'))).rejects.toMatchObject({ code: 'THREAD_BUSY' })
  })
})

test('a stale epoch can neither renew, detach, finish nor release the newer lease', async () => {
  const { stores, clock } = setUp()
  const { drivers } = stores
  await drivers.claim(claimOf('r1'))
  clock.advance(2_000)
  await drivers.claim(claimOf('r1', 't', 'b'))
  const stale = { runId: 'r1', epoch: 1 }
  await expect(drivers.renew({ ...stale, ttlMs: 10 })).rejects.toMatchObject({ code: 'DRIVER_LOST' })
  expect(await drivers.detach(stale)).toBe(false)
  expect(await drivers.finish({ ...stale, status: 'failed', error: { message: 'x' } })).toBe(false)
  await drivers.release(stale)
  await expect(drivers.claim(claimOf('r1', 't', 'c'))).rejects.toMatchObject({ code: 'DRIVER_HELD' })
  expect(await stores.runs.get('r1')).toMatchObject({ status: 'running' })
})

test('an expired lease that nobody took is renewed', async () => {
  const { stores, clock } = setUp()
  await stores.drivers.claim(claimOf('r1'))
  clock.advance(5_000)
  expect(await stores.drivers.renew({ runId: 'r1', epoch: 1, ttlMs: 100 })).toEqual({ expiresAt: clock.now() + 100 })
})

test('the first finish stands, and interrupted frees the thread without ending the run', async () => {
  const { stores } = setUp()
  const { drivers, runs } = stores
  await drivers.claim(claimOf('r1'))
  expect(await drivers.finish({ runId: 'r1', epoch: 1, status: 'interrupted' })).toBe(true)
  expect(await runs.get('r1')).not.toHaveProperty('finishedAt')
  await expect(drivers.renew({ runId: 'r1', epoch: 1, ttlMs: 1 })).rejects.toMatchObject({ code: 'DRIVER_LOST' })
  await drivers.claim(claimOf('r2'))
  expect(await drivers.finish({ runId: 'r2', epoch: 1, status: 'completed' })).toBe(true)
  expect(await drivers.finish({ runId: 'r2', epoch: 1, status: 'failed' })).toBe(false)
  expect(await runs.get('r2')).toMatchObject({ status: 'completed' })
  expect(await drivers.claim(claimOf('r1'))).toMatchObject({ epoch: 2 })
  await expect(drivers.finish({ runId: 'r1', epoch: 2, status: 'running' as never })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
  })
})

test('orphans are claimed, running, not detached, and past the grace, oldest end first', async () => {
  const { stores, clock } = setUp()
  const { drivers } = stores
  await drivers.claim({ ...claimOf('late', 't1'), ttlMs: 500 })
  await drivers.claim({ ...claimOf('early', 't2'), ttlMs: 100 })
  await drivers.claim({ ...claimOf('detached', 't3'), ttlMs: 100 })
  await drivers.detach({ runId: 'detached', epoch: 1 })
  await drivers.claim({ ...claimOf('released', 't4'), ttlMs: 9_000 })
  await drivers.release({ runId: 'released', epoch: 1 })
  await stores.runs.createOrResume({ runId: 'unclaimed', threadId: 't5', startedAt: 0 })
  clock.advance(600)
  const ids = async (graceMs: number, limit = 10) =>
    (await drivers.listOrphaned({ graceMs, limit })).map((run) => run.runId)
  expect(await ids(0)).toEqual(['released', 'early', 'late'])
  expect(await ids(100)).toEqual(['released', 'early'])
  expect(await ids(0, 1)).toEqual(['released'])
})

describe('cancel', () => {
  test('a waiter is told whether the request came before or after', async () => {
    const { stores } = setUp()
    const { drivers, runs } = stores
    await drivers.claim(claimOf('r1'))
    const waiting = drivers.onCancel('r1', new AbortController().signal)
    expect(await drivers.findCancel('r1')).toBeNull()
    await drivers.requestCancel({ runId: 'r1', keepSandbox: true })
    expect(await waiting).toEqual({ runId: 'r1', keepSandbox: true })
    expect(await drivers.onCancel('r1', new AbortController().signal)).toEqual({ runId: 'r1', keepSandbox: true })
    expect(await runs.get('r1')).toMatchObject({ cancelRequested: true, status: 'running' })
  })

  test('a flag written by TanStack wakes the driver too', async () => {
    const { stores } = setUp()
    await stores.drivers.claim(claimOf('r1'))
    const waiting = stores.drivers.onCancel('r1', new AbortController().signal)
    await stores.runs.update('r1', { cancelRequested: true })
    expect(await waiting).toEqual({ runId: 'r1', keepSandbox: false })
  })

  test('waiting ends with the signal and with the store', async () => {
    const { stores } = setUp()
    const controller = new AbortController()
    const waiting = stores.drivers.onCancel('r1', controller.signal)
    controller.abort('done')
    await expect(waiting).rejects.toBe('done')
    const other = stores.drivers.onCancel('r1', new AbortController().signal)
    const outcome = expect(other).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    await stores.close()
    await outcome
  })

  test('an unknown or ended run cannot be cancelled', async () => {
    const { stores } = setUp()
    await stores.drivers.requestCancel({ runId: 'none' })
    expect(await stores.runs.get('none')).toBeNull()
    await stores.drivers.claim(claimOf('r1'))
    await stores.drivers.finish({ runId: 'r1', epoch: 1, status: 'completed' })
    await stores.drivers.requestCancel({ runId: 'r1' })
    expect(await stores.drivers.findCancel('r1')).toBeNull()
  })
})

test('a run record: absent leaves, undefined clears, unknown does nothing, values are copies', async () => {
  const { stores } = setUp()
  const { runs } = stores
  await runs.update('none', { status: 'failed' })
  expect(await runs.get('none')).toBeNull()
  const first = await runs.createOrResume({ runId: 'r', threadId: 't', startedAt: 1 })
  expect(await runs.createOrResume({ runId: 'r', threadId: 'x', startedAt: 9, status: 'failed' })).toEqual(first)
  const error = { message: 'm' }
  await runs.update('r', { error, detachedSince: 3, sandboxKey: 'k' })
  error.message = 'changed'
  await runs.update('r', { detachedSince: undefined } as never)
  const record = await runs.get('r')
  expect(record).toEqual({
    runId: 'r',
    threadId: 't',
    status: 'running',
    startedAt: 1,
    error: { message: 'm' },
    sandboxKey: 'k',
  })
  if (record?.error !== undefined) record.error.message = 'changed'
  expect((await runs.get('r'))?.error?.message).toBe('m')
  await expect(runs.update('r', { finishedAt: Number.NaN })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
})

test('the active run is the running one that started last, and reclaiming includes the cut-off', async () => {
  const { stores } = setUp()
  const { runs } = stores
  for (const [runId, startedAt] of [
    ['b', 2],
    ['c', 3],
    ['a', 1],
  ] as const) {
    await runs.createOrResume({ runId, threadId: 't', startedAt })
  }
  expect((await runs.findActiveRun('t'))?.runId).toBe('c')
  expect((await runs.listByThread?.('t'))?.map((run) => run.runId)).toEqual(['a', 'b', 'c'])
  await runs.update('a', { detachedSince: 40 })
  await runs.update('b', { detachedSince: 41 })
  const reclaimable = await runs.listReclaimable?.({ now: 100, ttlMs: 60 })
  expect(reclaimable?.map((run) => run.runId)).toEqual(['a'])
})
