import type { StreamChunk } from '@tanstack/ai'
import { describe, expect, test } from 'vitest'
import { createMemoryStores, OFFSET_NOW, OFFSET_START } from '../../../src/index.ts'
import type { EventLogEntry, EventOffset } from '../../../src/index.ts'
import { ManualClock } from '../../support/manual-clock.ts'

const chunk = (name: string, value: unknown = null): StreamChunk =>
  ({ type: 'CUSTOM', name, value }) as unknown as StreamChunk
const names = (entries: EventLogEntry[]): unknown[] => entries.map((entry) => Reflect.get(entry.chunk, 'name'))

async function collect(entries: AsyncIterable<EventLogEntry>): Promise<EventLogEntry[]> {
  const all: EventLogEntry[] = []
  for await (const entry of entries) all.push(entry)
  return all
}

describe('append', () => {
  test('is refused without an epoch once the run was claimed, and with a stale one', async () => {
    const { drivers, eventLog } = createMemoryStores()
    const unclaimed = eventLog.open({ runId: 'r' })
    await unclaimed.append([chunk('accepted')])
    await drivers.claim({ runId: 'r', threadId: 't', owner: 'a', ttlMs: 0 })
    await expect(unclaimed.append([chunk('x')])).rejects.toMatchObject({ code: 'LOG_FENCED' })
    const first = eventLog.open({ runId: 'r', epoch: 1 })
    await first.append([chunk('one')])
    await drivers.claim({ runId: 'r', threadId: 't', owner: 'b', ttlMs: 0 })
    await expect(first.append([chunk('x')])).rejects.toMatchObject({ code: 'DRIVER_LOST' })
    await expect(first.close()).rejects.toMatchObject({ code: 'DRIVER_LOST' })
    await expect(eventLog.open({ runId: 'never', epoch: 1 }).append([chunk('x')])).rejects.toMatchObject({
      code: 'DRIVER_LOST',
    })
    expect(names(await first.snapshot())).toEqual(['accepted', 'one'])
  })

  test('stores all of a batch or nothing', async () => {
    const { eventLog } = createMemoryStores()
    const log = eventLog.open({ runId: 'r' })
    await expect(log.append([chunk('a'), chunk('b', Number.NaN)])).rejects.toMatchObject({ code: 'INVALID_CHUNK' })
    expect(await log.append([])).toEqual([])
    expect(await log.snapshot()).toEqual([])
    expect(await eventLog.find('r')).toBeNull()
  })

  test('keeps the same JSON text and gives safe, distinct offsets', async () => {
    const { eventLog } = createMemoryStores()
    const log = eventLog.open({ runId: 'r:1/ü %' })
    const value = { z: '\0', a: '\ud800', text: '\\u0000', deep: [1e-7, { b: 1, a: 2 }] }
    const sent = chunk('a', value)
    const offsets = await log.append([sent, sent])
    value.z = 'changed'
    const [entry] = await log.snapshot()
    expect(JSON.stringify(entry?.chunk)).toBe(JSON.stringify(chunk('a', { ...value, z: '\0' })))
    expect(new Set(offsets).size).toBe(2)
    for (const offset of offsets) expect(offset).toMatch(/^[!-~]+$/)
  })

  test('is refused after close, which may be repeated', async () => {
    const clock = new ManualClock(7)
    const { eventLog } = createMemoryStores({ clock })
    const log = eventLog.open({ runId: 'r' })
    await log.close()
    clock.advance(5)
    await log.close()
    await expect(log.append([chunk('a')])).rejects.toMatchObject({ code: 'LOG_CLOSED' })
    expect(await eventLog.find('r')).toEqual({ runId: 'r', isClosed: true, length: 0, tail: null, closedAt: 7 })
  })
})

describe('read', () => {
  test.each(['', '0', 'h1:r:0', 'h1:r:x', 'h1:other:1', 'h1:r:3', 'h1:r:1:1', 'h2:r:1', 'h1:r:01'])(
    'the offset %j is refused',
    async (offset) => {
      const { eventLog } = createMemoryStores()
      const log = eventLog.open({ runId: 'r' })
      await log.append([chunk('a'), chunk('b')])
      await expect(collect(log.read(offset as EventOffset))).rejects.toMatchObject({ code: 'INVALID_OFFSET' })
    },
  )

  test('gives what lies strictly after the offset, then tails until close', async () => {
    const { eventLog } = createMemoryStores()
    const log = eventLog.open({ runId: 'r' })
    const early = collect(log.read(OFFSET_START))
    const [first] = await log.append([chunk('a'), chunk('b')])
    const after = collect(log.read(first as EventOffset))
    const now = collect(log.read(OFFSET_NOW))
    await log.append([chunk('RUN_FINISHED'), chunk('c')])
    await log.close()
    expect(names(await early)).toEqual(['a', 'b', 'RUN_FINISHED', 'c'])
    expect(names(await after)).toEqual(['b', 'RUN_FINISHED', 'c'])
    expect(names(await now)).toEqual(['RUN_FINISHED', 'c'])
  })

  test('ends on abort, on delete and when its reader leaves, and leaves nothing behind', async () => {
    const { eventLog } = createMemoryStores()
    const log = eventLog.open({ runId: 'r' })
    const controller = new AbortController()
    const aborted = collect(log.read(OFFSET_START, controller.signal))
    const iterator = log.read(OFFSET_START)[Symbol.asyncIterator]()
    const parked = iterator.next()
    await Promise.resolve()
    await iterator.return?.()
    expect(await parked).toMatchObject({ done: true })
    controller.abort()
    expect(await aborted).toEqual([])
    expect(await eventLog.find('r')).toBeNull()
    await log.append([chunk('a')])
    const deleted = collect(log.read(OFFSET_START))
    await eventLog.delete('r')
    await eventLog.delete('r')
    expect((await deleted).length).toBeLessThanOrEqual(1)
    expect(await collect(log.read(OFFSET_START, AbortSignal.abort()))).toEqual([])
  })

  test('fails with STORE_CLOSED when the store closes, instead of looking finished', async () => {
    const stores = createMemoryStores()
    const reading = expect(collect(stores.eventLog.open({ runId: 'r' }).read(OFFSET_START))).rejects.toMatchObject({
      code: 'STORE_CLOSED',
    })
    await Promise.resolve()
    await stores.close()
    await reading
  })
})

test('deleteBefore removes closed logs only', async () => {
  const clock = new ManualClock(100)
  const { eventLog } = createMemoryStores({ clock })
  for (const runId of ['open', 'old', 'new']) await eventLog.open({ runId }).append([chunk('a')])
  await eventLog.open({ runId: 'old' }).close()
  clock.advance(50)
  await eventLog.open({ runId: 'new' }).close()
  expect(await eventLog.deleteBefore({ closedBefore: 150 })).toBe(1)
  expect(await eventLog.find('old')).toBeNull()
  expect(await eventLog.find('open')).not.toBeNull()
  expect(await eventLog.find('new')).not.toBeNull()
})

test('a long-lived process keeps the newest ended runs and closed logs, and every open one', async () => {
  const { drivers, eventLog, runs } = createMemoryStores({ retention: { closedLogs: 3, finishedRuns: 5 } })
  await drivers.claim({ runId: 'live', threadId: 'live', owner: 'a', ttlMs: 10 })
  await eventLog.open({ runId: 'live', epoch: 1 }).append([chunk('a')])
  await drivers.claim({ runId: 'ended-open', threadId: 'x', owner: 'a', ttlMs: 10 })
  await eventLog.open({ runId: 'ended-open', epoch: 1 }).append([chunk('a')])
  await drivers.finish({ runId: 'ended-open', epoch: 1, status: 'failed' })
  for (let index = 0; index < 20; index++) {
    const runId = `r${index}`
    await drivers.claim({ runId, threadId: 't', owner: 'a', ttlMs: 10 })
    const log = eventLog.open({ runId, epoch: 1 })
    await log.append([chunk('a')])
    if (index % 2 === 0) await log.close()
    await drivers.finish({ runId, epoch: 1, status: 'completed' })
    if (index % 2 === 1) await log.close()
  }
  const kept = await Promise.all([...Array(20).keys()].map((index) => eventLog.find(`r${index}`)))
  expect(kept.flatMap((info, index) => (info === null ? [] : [index]))).toEqual([17, 18, 19])
  const records = await Promise.all([...Array(20).keys()].map((index) => runs.get(`r${index}`)))
  expect(records.filter((record) => record !== null).length).toBeLessThanOrEqual(5)
  expect(await runs.get('r19')).not.toBeNull()
  expect(await eventLog.find('live')).not.toBeNull()
  expect(await eventLog.find('ended-open')).not.toBeNull()
  expect(await runs.get('ended-open')).not.toBeNull()
})
