import assert from 'node:assert/strict'
import type { ConformanceSuite } from '../conformance-suite.ts'
import type { StoreSubject } from '../store-subject.ts'
import { ODD_IDS, refusesBadIds, refusesClosed } from './bad-input.ts'
import { checkpointAppendCases } from './checkpoint-append-cases.ts'
import { checkpointForkCases } from './checkpoint-fork-cases.ts'
import { checkpointListCases } from './checkpoint-list-cases.ts'
import { appendChain, newCheckpoint } from './checkpoint-subject.ts'
import { checkpointWriterCases } from './checkpoint-writer-cases.ts'
import { hostAt, hostsOf } from './driver-subject.ts'
import { rejectsWith } from './rejects-with.ts'
import { required } from './required.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'
import { fullTranscript } from './transcript.ts'

const CONFLICT = 'SANDBOX_SNAPSHOT_WRITER_CONFLICT'

const inputCases: readonly StoreCase[] = [
  storeCase(
    'checkpoint.ids.odd-ones-are-kept-apart',
    'ids are compared exactly, whatever characters they have',
    async ({ stores }) => {
      for (const id of ODD_IDS) await appendChain(stores, [{ id }], id)
      for (const id of ODD_IDS) {
        assert.equal((await stores.checkpoints.get(id))?.threadId, id)
        assert.equal(await stores.checkpoints.getHead(id), id)
      }
    },
  ),
  storeCase(
    'checkpoint.ids.bad-ones-are-refused',
    'malformed ids are refused with INVALID_ID',
    async ({ stores: { checkpoints } }) => {
      const writer = await checkpoints.acquireWriter('thread-1')
      await refusesBadIds(
        {
          get: (id) => checkpoints.get(id),
          list: (id) => checkpoints.list(id),
          getHead: (id) => checkpoints.getHead(id),
          acquireWriter: (id) => checkpoints.acquireWriter(id),
          deleteHead: (checkpointId) => checkpoints.deleteHead({ threadId: 'thread-1', checkpointId, writer }),
        },
        'SANDBOX_SNAPSHOT_INVALID_ID',
      )
    },
  ),
  storeCase('checkpoint.closed', 'every call after close is refused with STORE_CLOSED', async ({ stores }) => {
    const { checkpoints } = stores
    const writer = await appendChain(stores, [{ id: 'first' }])
    await stores.close()
    const checkpoint = newCheckpoint({ id: 'second', parentCheckpointId: 'first' })
    await refusesClosed({
      get: () => checkpoints.get('first'),
      list: () => checkpoints.list('thread-1'),
      getHead: () => checkpoints.getHead('thread-1'),
      append: () => checkpoints.append({ checkpoint, expectedHeadId: 'first', writer }),
      deleteHead: () => checkpoints.deleteHead({ threadId: 'thread-1', checkpointId: 'first', writer }),
      acquireWriter: () => checkpoints.acquireWriter('thread-2'),
      listBlobReferences: () => checkpoints.listBlobReferences(),
      renew: () => writer.renew(),
    })
  }),
  storeCase(
    'checkpoint.reopened',
    'checkpoints, heads and leases outlive a close',
    async (subject) => {
      const before = await appendChain(subject.stores, [{ id: 'first', conversation: fullTranscript() }])
      const { checkpoints } = await required(subject.reopen, 'reopen')()
      assert.deepEqual((await checkpoints.get('first'))?.conversation, fullTranscript())
      assert.equal(await checkpoints.getHead('thread-1'), 'first')
      await rejectsWith(CONFLICT, () => checkpoints.acquireWriter('thread-1'))
      await subject.advance(3_600_000)
      assert.ok((await checkpoints.acquireWriter('thread-1')).fence > before.fence)
    },
    ['reopen'],
  ),
]

const concurrentCases: readonly StoreCase[] = [
  storeCase(
    'checkpoint.concurrent.one-writer',
    'of many hosts that want the lease, one gets it',
    async (subject) => {
      const hosts = await hostsOf(subject, 4)
      const racing = Array.from({ length: 40 }, (_, index) =>
        hostAt(hosts, index).checkpoints.acquireWriter('thread-1'),
      )
      const results = await Promise.allSettled(racing)
      assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
      for (const result of results) {
        if (result.status === 'rejected') assert.equal(Reflect.get(Object(result.reason), 'code'), CONFLICT)
      }
    },
    ['concurrent'],
  ),
  storeCase(
    'checkpoint.concurrent.one-head',
    'of many hosts that append on one head, one is accepted',
    async (subject) => {
      const hosts = await hostsOf(subject, 4)
      const writer = await subject.stores.checkpoints.acquireWriter('thread-1')
      for (let round = 0; round < 5; round += 1) {
        const expectedHeadId = await subject.stores.checkpoints.getHead('thread-1')
        const racing = Array.from({ length: 12 }, (_, index) => {
          const checkpoint = newCheckpoint({
            id: `round-${round}-${index}`,
            parentCheckpointId: expectedHeadId,
            createdAt: round,
          })
          return hostAt(hosts, index).checkpoints.append({ checkpoint, expectedHeadId, writer })
        })
        const results = await Promise.allSettled(racing)
        assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
        for (const result of results) {
          if (result.status === 'fulfilled') continue
          assert.equal(Reflect.get(Object(result.reason), 'code'), 'SANDBOX_SNAPSHOT_STALE_HEAD')
        }
      }
      const chain = await subject.stores.checkpoints.list('thread-1')
      assert.deepEqual(
        chain.map(({ parentCheckpointId }) => parentCheckpointId),
        [null, ...chain.slice(0, -1).map(({ id }) => id)],
      )
      assert.equal(chain.length, 5)
    },
    ['concurrent'],
  ),
]

function needsCheckpoints(testCase: StoreCase): StoreCase {
  return { ...testCase, needs: ['checkpoints', ...(testCase.needs ?? [])] }
}

/** The contract of `SandboxCheckpointStore`. */
export const checkpointStoreSuite: ConformanceSuite<StoreSubject> = {
  name: 'SandboxCheckpointStore',
  cases: [
    ...checkpointAppendCases,
    ...checkpointWriterCases,
    ...checkpointListCases,
    ...checkpointForkCases,
    ...inputCases,
    ...concurrentCases,
  ].map(needsCheckpoints),
}
