import assert from 'node:assert/strict'
import type { CheckpointWriterLease, HoldfastStores } from '@holdfast/core'
import { appendChain, newCheckpoint } from './checkpoint-subject.ts'
import { rejectsWith } from './rejects-with.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'

/** Longer than any lease. */
const LONG_MS = 3_600_000
const LOST = 'SANDBOX_SNAPSHOT_WRITER_LOST'
const CONFLICT = 'SANDBOX_SNAPSHOT_WRITER_CONFLICT'

async function canDoNothing(stores: HoldfastStores, stale: CheckpointWriterLease): Promise<void> {
  const { checkpoints } = stores
  const headId = await checkpoints.getHead('thread-1')
  const checkpoint = newCheckpoint({ id: 'by a stale writer', parentCheckpointId: headId })
  await rejectsWith(LOST, () => stale.renew(), 'renew')
  await rejectsWith(LOST, () => checkpoints.append({ checkpoint, expectedHeadId: headId, writer: stale }), 'append')
  await rejectsWith(
    LOST,
    () => checkpoints.deleteHead({ threadId: 'thread-1', checkpointId: 'first', writer: stale }),
    'deleteHead',
  )
  assert.equal(await checkpoints.getHead('thread-1'), headId)
}

export const checkpointWriterCases: readonly StoreCase[] = [
  storeCase(
    'checkpoint.writer.conflict',
    'acquireWriter is refused at once with WRITER_CONFLICT while a lease is live',
    async ({ stores: { checkpoints }, advance }) => {
      const lease = await checkpoints.acquireWriter('thread-1')
      assert.equal(lease.threadId, 'thread-1')
      assert.ok(lease.ownerToken.length > 0 && Number.isSafeInteger(lease.fence))
      await rejectsWith(CONFLICT, () => checkpoints.acquireWriter('thread-1'))
      await advance(lease.renewAfterMs)
      await rejectsWith(CONFLICT, () => checkpoints.acquireWriter('thread-1'), 'when it is time to renew')
      assert.equal((await checkpoints.acquireWriter('thread-2')).threadId, 'thread-2')
    },
  ),
  storeCase(
    'checkpoint.writer.release',
    'release frees the thread, and may be repeated',
    async ({ stores: { checkpoints } }) => {
      const first = await checkpoints.acquireWriter('thread-1')
      await first.release()
      await first.release()
      const second = await checkpoints.acquireWriter('thread-1')
      assert.ok(second.fence > first.fence, 'the fence only grows')
      assert.notEqual(second.ownerToken, first.ownerToken)
      await first.release()
      await rejectsWith(CONFLICT, () => checkpoints.acquireWriter('thread-1'), 'a stale release ends no newer lease')
    },
  ),
  storeCase(
    'checkpoint.writer.renew',
    'renew extends the lease by the store clock',
    async ({ stores: { checkpoints }, advance }) => {
      const lease = await checkpoints.acquireWriter('thread-1')
      let { expiresAt } = lease
      for (let renewals = 0; renewals < 5; renewals += 1) {
        await advance(lease.renewAfterMs)
        const renewed = await lease.renew()
        assert.ok(renewed.expiresAt >= expiresAt + lease.renewAfterMs)
        expiresAt = renewed.expiresAt
      }
      await rejectsWith(CONFLICT, () => checkpoints.acquireWriter('thread-1'))
    },
  ),
  storeCase(
    'checkpoint.writer.expired',
    'an expired lease can do nothing, also when nobody took it',
    async ({ stores, advance }) => {
      const lease = await appendChain(stores, [{ id: 'first' }])
      await advance(LONG_MS)
      await canDoNothing(stores, lease)
    },
  ),
  storeCase(
    'checkpoint.writer.superseded',
    'a lease that passed to another writer can do nothing',
    async ({ stores, advance }) => {
      const stale = await appendChain(stores, [{ id: 'first' }])
      await advance(LONG_MS)
      const current = await stores.checkpoints.acquireWriter('thread-1')
      assert.ok(current.fence > stale.fence)
      await canDoNothing(stores, stale)
      await stale.release()
      const checkpoint = newCheckpoint({ id: 'second', parentCheckpointId: 'first' })
      await stores.checkpoints.append({ checkpoint, expectedHeadId: 'first', writer: current })
    },
  ),
  storeCase(
    'checkpoint.writer.forced',
    'a forced acquireWriter ends the live lease of another writer',
    async ({ stores: { checkpoints } }) => {
      const first = await checkpoints.acquireWriter('thread-1')
      const second = await checkpoints.acquireWriter('thread-1', { force: true })
      assert.notEqual(second.ownerToken, first.ownerToken)
      await rejectsWith(LOST, () => first.renew())
      await second.renew()
      await rejectsWith(CONFLICT, () => checkpoints.acquireWriter('thread-1'), 'the next one is not forced')
    },
  ),
  storeCase('checkpoint.delete-head', 'deleteHead removes the head and moves it to its parent', async ({ stores }) => {
    const writer = await appendChain(stores, [{ id: 'first' }, { id: 'second' }])
    const { checkpoints } = stores
    const deleteHead = (checkpointId: string) => checkpoints.deleteHead({ threadId: 'thread-1', checkpointId, writer })
    assert.deepEqual(await deleteHead('second'), { headId: 'first' })
    assert.equal(await checkpoints.getHead('thread-1'), 'first')
    assert.equal(await checkpoints.get('second'), null)
    assert.deepEqual(await deleteHead('first'), { headId: null })
    assert.equal(await checkpoints.getHead('thread-1'), null)
    assert.deepEqual(await checkpoints.list('thread-1'), [])
    await checkpoints.append({ checkpoint: newCheckpoint({ id: 'anew' }), expectedHeadId: null, writer })
  }),
  storeCase('checkpoint.delete-head.not-head', 'only the head of the thread can be deleted', async ({ stores }) => {
    await appendChain(stores, [{ id: 'elsewhere' }], 'thread-2')
    const writer = await appendChain(stores, [{ id: 'first' }, { id: 'second' }])
    for (const checkpointId of ['first', 'nothing', 'elsewhere']) {
      const deleting = () => stores.checkpoints.deleteHead({ threadId: 'thread-1', checkpointId, writer })
      await rejectsWith('SANDBOX_SNAPSHOT_NOT_HEAD', deleting, checkpointId)
    }
    assert.equal((await stores.checkpoints.list('thread-1')).length, 2)
    assert.equal(await stores.checkpoints.getHead('thread-2'), 'elsewhere')
  }),
]
