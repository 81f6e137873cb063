import assert from 'node:assert/strict'
import { OFFSET_START } from '@holdfast/core'
import { claim, TTL_MS } from './driver-subject.ts'
import { readAll, Tail, textChunk, textChunks, textsOf } from './event-chunks.ts'
import { rejectsWith } from './rejects-with.ts'
import { required } from './required.ts'
import { soon } from './soon.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'

const fenceCases: readonly StoreCase[] = [
  storeCase(
    'log.fence.unclaimed-needs-none',
    'a run that nobody has claimed takes appends without an epoch',
    async ({ stores }) => {
      await stores.runs.createOrResume({ runId: 'run-1', threadId: 'thread-1', startedAt: 1 })
      await stores.eventLog.open({ runId: 'run-1' }).append([textChunk('free')])
      assert.deepEqual(textsOf(await stores.eventLog.open({ runId: 'run-1' }).snapshot()), ['free'])
    },
  ),
  storeCase(
    'log.fence.claimed-needs-one',
    'a claimed run refuses an append without an epoch with LOG_FENCED',
    async ({ stores }) => {
      const log = stores.eventLog.open({ runId: 'run-1' })
      await log.append([textChunk('before')])
      const { epoch } = await claim(stores.drivers)
      await rejectsWith('LOG_FENCED', () => log.append([textChunk('after')]))
      await stores.drivers.finish({ runId: 'run-1', epoch, status: 'interrupted' })
      await rejectsWith('LOG_FENCED', () => log.append([textChunk('after the pause')]))
      assert.deepEqual(textsOf(await log.snapshot()), ['before'])
    },
  ),
  storeCase(
    'log.fence.current-epoch',
    'the current epoch appends, also when its lease expired and nobody took the run',
    async ({ stores, advance }) => {
      const { epoch } = await claim(stores.drivers)
      const log = stores.eventLog.open({ runId: 'run-1', epoch })
      await log.append([textChunk('live')])
      await advance(TTL_MS + 1)
      await log.append([textChunk('late')])
      assert.deepEqual(textsOf(await log.snapshot()), ['live', 'late'])
    },
  ),
  storeCase(
    'log.fence.one-claim-two-writers',
    'two writers of one claim append in turn, and no batch is taken for the other one',
    async ({ stores }) => {
      const { epoch } = await claim(stores.drivers)
      const writers = [1, 2].map(() => stores.eventLog.open({ runId: 'run-1', epoch }))
      const offsets = []
      for (const writer of [...writers, ...writers, ...writers.toReversed()]) {
        offsets.push(...(await writer.append([textChunk('same'), textChunk('again')])))
      }
      const entries = await stores.eventLog.open({ runId: 'run-1' }).snapshot()
      assert.deepEqual(
        entries.map(({ offset }) => offset),
        offsets,
      )
      assert.equal(new Set(offsets).size, 12)
    },
  ),
  storeCase(
    'log.fence.stale-epoch',
    'an append under a stale epoch is refused with DRIVER_LOST and stores nothing',
    async ({ stores, advance }) => {
      const { epoch } = await claim(stores.drivers)
      const stale = stores.eventLog.open({ runId: 'run-1', epoch })
      await stale.append([textChunk('mine')])
      await advance(TTL_MS + 1)
      const next = await claim(stores.drivers, { owner: 'host-b' })
      await rejectsWith('DRIVER_LOST', () => stale.append(textChunks(3)))
      await stores.eventLog.open({ runId: 'run-1', epoch: next.epoch }).append([textChunk('theirs')])
      await rejectsWith('DRIVER_LOST', () => stale.append([textChunk('again')]))
      assert.deepEqual(textsOf(await stale.snapshot()), ['mine', 'theirs'])
    },
  ),
  storeCase(
    'log.fence.epoch-to-come',
    'an epoch that no claim has given yet is refused with DRIVER_LOST',
    async ({ stores }) => {
      const { epoch } = await claim(stores.drivers)
      const log = stores.eventLog.open({ runId: 'run-1', epoch: epoch + 1 })
      await rejectsWith('DRIVER_LOST', () => log.append([textChunk('early')]))
      assert.deepEqual(await log.snapshot(), [])
    },
  ),
  storeCase(
    'log.fence.close',
    'close under a stale epoch is refused with DRIVER_LOST, and the log stays open',
    async ({ stores }) => {
      const { epoch } = await claim(stores.drivers)
      const next = await claim(stores.drivers)
      const stale = stores.eventLog.open({ runId: 'run-1', epoch })
      const current = stores.eventLog.open({ runId: 'run-1', epoch: next.epoch })
      await current.append([textChunk('open')])
      await rejectsWith('DRIVER_LOST', () => stale.close())
      assert.equal((await stores.eventLog.find('run-1'))?.isClosed, false)
      await current.append([textChunk('still open')])
      await current.close()
      assert.equal((await stores.eventLog.find('run-1'))?.isClosed, true)
    },
  ),
  storeCase(
    'log.fence.close-needs-one',
    'a claimed run refuses a close without an epoch with LOG_FENCED, and the log stays open; once it is closed, that is fine',
    async ({ stores }) => {
      const { epoch } = await claim(stores.drivers)
      const log = stores.eventLog.open({ runId: 'run-1' })
      const current = stores.eventLog.open({ runId: 'run-1', epoch })
      await rejectsWith('LOG_FENCED', () => log.close())
      await current.append([textChunk('still open')])
      await current.close()
      await log.close()
      assert.deepEqual(textsOf(await log.snapshot()), ['still open'])
    },
  ),
]

const closeCases: readonly StoreCase[] = [
  storeCase(
    'log.close.refuses-appends',
    'a closed log refuses appends with LOG_CLOSED; closing again is fine',
    async ({ stores }) => {
      const log = stores.eventLog.open({ runId: 'run-1' })
      await log.append([textChunk('kept')])
      await log.close()
      const closed = await stores.eventLog.find('run-1')
      await log.close()
      await rejectsWith('LOG_CLOSED', () => log.append([textChunk('late')]))
      await rejectsWith('LOG_CLOSED', () => stores.eventLog.open({ runId: 'run-1' }).append([textChunk('late')]))
      assert.deepEqual(textsOf(await log.snapshot()), ['kept'])
      assert.deepEqual(await stores.eventLog.find('run-1'), closed, 'the second close changes nothing')
    },
  ),
  storeCase('log.find', 'find tells length, tail and whether the log is closed', async ({ stores }) => {
    assert.equal(await stores.eventLog.find('run-1'), null)
    const log = stores.eventLog.open({ runId: 'run-1' })
    assert.equal(await stores.eventLog.find('run-1'), null, 'opening makes no log')
    const offsets = [...(await log.append(textChunks(2))), ...(await log.append(textChunks(9)))]
    const tail = offsets.at(-1)
    assert.deepEqual(await stores.eventLog.find('run-1'), { runId: 'run-1', isClosed: false, length: 11, tail })
    await log.close()
    const { closedAt, ...info } = required(await stores.eventLog.find('run-1'), 'the closed log')
    assert.deepEqual(info, { runId: 'run-1', isClosed: true, length: 11, tail })
    assert.ok(Number.isFinite(closedAt))
  }),
  storeCase('log.find.closed-without-events', 'a log that was closed without events is found', async ({ stores }) => {
    await stores.eventLog.open({ runId: 'run-1' }).close()
    const { closedAt: _closedAt, ...info } = required(await stores.eventLog.find('run-1'), 'the closed log')
    assert.deepEqual(info, { runId: 'run-1', isClosed: true, length: 0, tail: null })
  }),
]

const retentionCases: readonly StoreCase[] = [
  storeCase(
    'log.delete-before',
    'deleteBefore removes logs closed before the time, and never an open one',
    async ({ stores, advance }) => {
      const { eventLog } = stores
      for (const runId of ['closed-1', 'closed-2', 'open', 'closed-3']) {
        const log = eventLog.open({ runId })
        await log.append(textChunks(2))
        if (runId !== 'open') await log.close()
        await advance(10_000)
      }
      const cut = required((await eventLog.find('closed-2'))?.closedAt, 'closedAt')
      assert.equal(await eventLog.deleteBefore({ closedBefore: cut }), 1)
      assert.equal(await eventLog.find('closed-1'), null)
      assert.deepEqual(await eventLog.open({ runId: 'closed-1' }).snapshot(), [])
      assert.equal((await eventLog.find('closed-2'))?.length, 2, 'closed at the time is not before it')
      assert.equal(await eventLog.deleteBefore({ closedBefore: cut + 3_600_000 }), 2)
      assert.equal((await eventLog.find('open'))?.length, 2)
    },
  ),
  storeCase('log.delete-before.limit', 'deleteBefore removes no more than its limit', async ({ stores }) => {
    const { eventLog } = stores
    for (const runId of ['a', 'b', 'c']) await eventLog.open({ runId }).close()
    const closedBefore = required((await eventLog.find('c'))?.closedAt, 'closedAt') + 60_000
    assert.equal(await eventLog.deleteBefore({ closedBefore, limit: 2 }), 2)
    assert.equal(await eventLog.deleteBefore({ closedBefore, limit: 2 }), 1)
    assert.equal(await eventLog.deleteBefore({ closedBefore }), 0)
  }),
  storeCase('log.delete', "delete removes one run's log, open or closed; repeating it is fine", async ({ stores }) => {
    for (const runId of ['open', 'closed']) {
      const log = stores.eventLog.open({ runId })
      await log.append(textChunks(2))
      if (runId === 'closed') await log.close()
      await stores.eventLog.delete(runId)
      await stores.eventLog.delete(runId)
      assert.equal(await stores.eventLog.find(runId), null)
      assert.deepEqual(await log.snapshot(), [])
    }
  }),
  storeCase('log.delete.ends-readers', 'delete ends the readers of the log', async (subject) => {
    const log = subject.stores.eventLog.open({ runId: 'run-1' })
    await log.append([textChunk('only')])
    const tail = new Tail(log, OFFSET_START)
    await tail.next()
    const pending = tail.pending()
    await subject.stores.eventLog.delete('run-1')
    await subject.advance(10_000)
    assert.equal((await soon(pending, 'the end of the read')).done, true)
  }),
  storeCase('log.delete.starts-anew', 'what a writer appends after a delete begins a new log', async ({ stores }) => {
    const { epoch } = await claim(stores.drivers)
    const log = stores.eventLog.open({ runId: 'run-1', epoch })
    const [first] = await log.append(textChunks(3))
    await stores.eventLog.delete('run-1')
    assert.deepEqual(await log.append([textChunk('new')]), [first])
    assert.deepEqual(textsOf(await log.snapshot()), ['new'])
    assert.equal((await stores.eventLog.find('run-1'))?.length, 1)
  }),
  storeCase(
    'log.reopened',
    'events, closes and offsets outlive a close of the store',
    async (subject) => {
      const log = subject.stores.eventLog.open({ runId: 'run-1' })
      const [first, ...others] = await log.append(textChunks(4))
      await log.close()
      const reopened = (await required(subject.reopen, 'reopen')()).eventLog.open({ runId: 'run-1' })
      const entries = await readAll(reopened, required(first, 'an offset'))
      assert.deepEqual(
        entries.map(({ offset }) => offset),
        others,
      )
      await rejectsWith('LOG_CLOSED', () => reopened.append([textChunk('late')]))
    },
    ['reopen'],
  ),
]

export const eventFenceCases: readonly StoreCase[] = [...fenceCases, ...closeCases, ...retentionCases]
