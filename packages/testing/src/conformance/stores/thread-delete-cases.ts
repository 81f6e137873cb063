import assert from 'node:assert/strict'
import { OFFSET_START } from '@holdfast/core'
import type { HoldfastStores } from '@holdfast/core'
import { newCheckpoint } from './checkpoint-subject.ts'
import { claim, TTL_MS } from './driver-subject.ts'
import { readAll, textChunk } from './event-chunks.ts'
import { rejectsWith } from './rejects-with.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'
import { textMessages } from './transcript.ts'

/** One row of every kind that a thread owns. Ids end in the thread's name. */
async function fillThread(stores: HoldfastStores, threadId: string): Promise<void> {
  const runId = `run of ${threadId}`
  await stores.threads.ensure({ threadId, ownerId: 'owner-1' })
  const { epoch } = await claim(stores.drivers, { runId, threadId })
  const log = stores.eventLog.open({ runId, epoch })
  await log.append([textChunk(threadId)])
  await log.close()
  await stores.drivers.finish({ runId, epoch, status: 'completed' })
  await stores.messages.saveThread(threadId, textMessages(threadId))
  await stores.interrupts.create({
    interruptId: `interrupt of ${threadId}`,
    runId,
    threadId,
    requestedAt: 1,
    payload: {},
  })
  await stores.instances.upsert({
    key: `key of ${threadId}`,
    provider: 'process',
    providerSandboxId: 'sandbox-1',
    threadId,
    updatedAt: 1,
  })
}

async function fillContent(stores: HoldfastStores, threadId: string): Promise<void> {
  const artifactId = `artifact of ${threadId}`
  const about = { name: 'a', mimeType: 'text/plain', size: 0, createdAt: 1 }
  await stores.artifacts.save({ ...about, artifactId, runId: `run of ${threadId}`, threadId })
  const writer = await stores.checkpoints.acquireWriter(threadId)
  const checkpoint = newCheckpoint({ id: `checkpoint of ${threadId}`, threadId })
  await stores.checkpoints.append({ checkpoint, expectedHeadId: null, writer })
}

/** How many rows of each kind the thread has left. */
async function rowsOf(stores: HoldfastStores, threadId: string): Promise<Record<string, number>> {
  const runId = `run of ${threadId}`
  return {
    threads: Number((await stores.threads.find(threadId)) !== null),
    runs: (await stores.drivers.list({ threadId, limit: 10 })).length,
    events: (await stores.eventLog.open({ runId }).snapshot()).length,
    messages: (await stores.messages.loadThread(threadId)).length,
    interrupts: (await stores.interrupts.list(threadId)).length,
    instances: Number((await stores.instances.get(`key of ${threadId}`)) !== null),
  }
}

const FULL = { threads: 1, runs: 1, events: 1, messages: 1, interrupts: 1, instances: 1 }
const ERASED = { threads: 0, runs: 0, events: 0, messages: 0, interrupts: 0, instances: 1 }

export const threadDeleteCases: readonly StoreCase[] = [
  storeCase(
    'thread.delete.erases',
    'delete removes all that the thread owns but its instance rows, and nothing else',
    async ({ stores }) => {
      await fillThread(stores, 'thread-1')
      await fillThread(stores, 'thread-2')
      await stores.threads.delete('thread-1')
      assert.deepEqual(await rowsOf(stores, 'thread-1'), ERASED)
      assert.equal(await stores.eventLog.find('run of thread-1'), null)
      assert.deepEqual(await rowsOf(stores, 'thread-2'), FULL)
    },
  ),
  storeCase(
    'thread.delete.erases-content',
    'delete removes artifacts, checkpoints and the writer lease',
    async ({ stores }) => {
      for (const threadId of ['thread-1', 'thread-2']) {
        await stores.threads.ensure({ threadId, ownerId: 'owner-1' })
        await fillContent(stores, threadId)
      }
      await stores.threads.delete('thread-1')
      assert.deepEqual(await stores.artifacts.listForThread('thread-1'), [])
      assert.deepEqual(await stores.checkpoints.list('thread-1'), [])
      assert.equal(await stores.checkpoints.getHead('thread-1'), null)
      await stores.checkpoints.acquireWriter('thread-1')
      assert.equal((await stores.artifacts.listForThread('thread-2')).length, 1)
      assert.equal(await stores.checkpoints.getHead('thread-2'), 'checkpoint of thread-2')
    },
    ['artifacts', 'checkpoints'],
  ),
  storeCase('thread.delete.starts-anew', 'after delete the same ids may be used from the start', async ({ stores }) => {
    await fillThread(stores, 'thread-1')
    await stores.threads.delete('thread-1')
    const claimed = await claim(stores.drivers, { runId: 'run of thread-1', threadId: 'thread-1' })
    assert.deepEqual([claimed.created, claimed.epoch], [true, 1])
    const log = stores.eventLog.open({ runId: 'run of thread-1', epoch: claimed.epoch })
    await log.append([textChunk('new')])
    await log.close()
    assert.equal((await readAll(log, OFFSET_START)).length, 1)
  }),
  storeCase(
    'thread.delete.busy',
    'delete is refused with THREAD_BUSY while a run holds the thread, and removes nothing',
    async ({ stores, advance }) => {
      await fillThread(stores, 'thread-1')
      const { epoch } = await claim(stores.drivers, { runId: 'run-2' })
      await rejectsWith('THREAD_BUSY', () => stores.threads.delete('thread-1'))
      await advance(TTL_MS + 1)
      await rejectsWith('THREAD_BUSY', () => stores.threads.delete('thread-1'), 'held by an orphan')
      assert.deepEqual(await rowsOf(stores, 'thread-1'), { ...FULL, runs: 2 })
      await stores.drivers.finish({ runId: 'run-2', epoch, status: 'aborted' })
      await stores.threads.delete('thread-1')
      assert.deepEqual(await rowsOf(stores, 'thread-1'), ERASED)
    },
  ),
  storeCase('thread.delete.repeatable', 'delete of a missing thread is fine', async ({ stores }) => {
    await stores.threads.delete('nothing')
    await fillThread(stores, 'thread-1')
    await stores.threads.delete('thread-1')
    await stores.threads.delete('thread-1')
    assert.equal((await stores.threads.ensure({ threadId: 'thread-1', ownerId: 'owner-2' })).ownerId, 'owner-2')
  }),
]
