import assert from 'node:assert/strict'
import type { CheckpointForkInput, ErrorCode, HoldfastStores } from '@holdfast/core'
import { BAD_IDS } from './bad-input.ts'
import { appendChain, file, fileKey } from './checkpoint-subject.ts'
import { rejectsWith } from './rejects-with.ts'
import { required } from './required.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'
import { fullTranscript, textMessages } from './transcript.ts'

const CONTENT = { files: [file('a.txt', 'c')], conversation: fullTranscript() }

/** A source thread with two checkpoints, the fork's input, and the fork. */
async function forkable(stores: HoldfastStores) {
  const { checkpoints } = stores
  await appendChain(
    stores,
    [
      { id: 'first', ...CONTENT },
      { id: 'second', createdAt: 2_000 },
    ],
    'source',
  )
  await stores.messages.saveThread('source', textMessages('of the source'))
  const input: CheckpointForkInput = {
    sourceThreadId: 'source',
    sourceCheckpointId: 'first',
    destinationThreadId: 'destination',
    destinationCheckpointId: 'root',
    createdAt: 9_000,
    writer: await checkpoints.acquireWriter('destination'),
  }
  const fork = (change: Partial<CheckpointForkInput> = {}) =>
    required(checkpoints.forkFromCheckpoint, 'forkFromCheckpoint').call(checkpoints, { ...input, ...change })
  return { input, fork }
}

async function refusesFork(
  stores: HoldfastStores,
  fork: (change: Partial<CheckpointForkInput>) => Promise<unknown>,
  code: ErrorCode,
  change: Partial<CheckpointForkInput>,
): Promise<void> {
  const state = async () => [
    await stores.checkpoints.list('destination'),
    await stores.messages.loadThread('destination'),
    await stores.checkpoints.listBlobReferences(),
  ]
  const before = await state()
  await rejectsWith(code, () => fork(change), JSON.stringify(Object.keys(change)))
  assert.deepEqual(await state(), before, 'a refused fork changes nothing')
}

const cases: readonly StoreCase[] = [
  storeCase(
    'checkpoint.fork',
    'a fork copies checkpoint, conversation, head and transcript to an empty thread',
    async ({ stores }) => {
      const { fork } = await forkable(stores)
      const { checkpoint } = await fork()
      const { id, threadId, parentCheckpointId, createdAt, reason } = checkpoint
      assert.deepEqual(
        { id, threadId, parentCheckpointId, createdAt, reason },
        { id: 'root', threadId: 'destination', parentCheckpointId: null, createdAt: 9_000, reason: 'fork-root' },
      )
      assert.deepEqual({ files: checkpoint.files, conversation: checkpoint.conversation }, CONTENT)
      assert.deepEqual(await stores.checkpoints.get('root'), checkpoint)
      assert.equal(await stores.checkpoints.getHead('destination'), 'root')
      assert.deepEqual(await stores.messages.loadThread('destination'), CONTENT.conversation)
      const references = await stores.checkpoints.listBlobReferences()
      assert.equal(references.find(({ key }) => key === fileKey('c'))?.references, 2)
    },
  ),
  storeCase('checkpoint.fork.source-unchanged', 'a fork leaves its source as it was', async ({ stores }) => {
    const { fork } = await forkable(stores)
    const before = await stores.checkpoints.list('source')
    await fork()
    assert.deepEqual(await stores.checkpoints.list('source'), before)
    assert.equal(await stores.checkpoints.getHead('source'), 'second')
    assert.deepEqual(await stores.messages.loadThread('source'), textMessages('of the source'))
  }),
  storeCase(
    'checkpoint.fork.source-is-checked',
    'a fork from a missing or foreign checkpoint is refused',
    async ({ stores }) => {
      const { fork } = await forkable(stores)
      const missing = { sourceCheckpointId: 'nothing' }
      await refusesFork(stores, fork, 'SANDBOX_SNAPSHOT_FORK_SOURCE_NOT_FOUND', missing)
      const foreign = { sourceThreadId: 'somebody else’s' }
      await refusesFork(stores, fork, 'SANDBOX_SNAPSHOT_FORK_SOURCE_THREAD_MISMATCH', foreign)
    },
  ),
  storeCase(
    'checkpoint.fork.destination-is-empty',
    'a fork into a thread with messages or checkpoints is refused',
    async ({ stores }) => {
      const { fork, input } = await forkable(stores)
      const code = 'SANDBOX_SNAPSHOT_FORK_DESTINATION_NOT_EMPTY'
      await stores.messages.saveThread('destination', textMessages('here already'))
      await refusesFork(stores, fork, code, {})
      await stores.messages.saveThread('destination', [])
      await fork()
      await refusesFork(stores, fork, code, { destinationCheckpointId: 'root-2' })
      await input.writer.release()
    },
  ),
  storeCase(
    'checkpoint.fork.not-into-itself',
    'a fork into the thread that it comes from is refused',
    async ({ stores, advance }) => {
      const { fork } = await forkable(stores)
      await advance(3_600_000)
      const writer = await stores.checkpoints.acquireWriter('source')
      const change = { destinationThreadId: 'source', writer }
      await refusesFork(stores, fork, 'SANDBOX_SNAPSHOT_FORK_DESTINATION_NOT_EMPTY', change)
    },
  ),
  storeCase(
    'checkpoint.fork.needs-the-writer',
    'a fork needs a live lease of the destination',
    async ({ stores, advance }) => {
      const { fork, input } = await forkable(stores)
      const code = 'SANDBOX_SNAPSHOT_WRITER_LOST'
      await refusesFork(stores, fork, code, { destinationThreadId: 'elsewhere' })
      await refusesFork(stores, fork, code, { writer: { ...input.writer, ownerToken: 'invented' } })
      await advance(3_600_000)
      await refusesFork(stores, fork, code, {})
    },
  ),
  storeCase('checkpoint.fork.ids', 'a fork refuses malformed ids and an id that exists', async ({ stores }) => {
    const { fork } = await forkable(stores)
    for (const [, bad] of BAD_IDS) {
      for (const field of ['sourceThreadId', 'sourceCheckpointId', 'destinationCheckpointId']) {
        await refusesFork(stores, fork, 'SANDBOX_SNAPSHOT_INVALID_ID', { [field]: bad })
      }
    }
    const taken = { destinationCheckpointId: 'second' }
    await refusesFork(stores, fork, 'SANDBOX_SNAPSHOT_DUPLICATE_ID', taken)
  }),
]

export const checkpointForkCases: readonly StoreCase[] = cases.map((testCase) => ({
  ...testCase,
  needs: ['checkpoints.forkFromCheckpoint'],
}))
