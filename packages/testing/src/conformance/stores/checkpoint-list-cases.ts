import assert from 'node:assert/strict'
import type { CheckpointSummary } from '@holdfast/core'
import { refusesBadArguments } from './bad-input.ts'
import { appendChain, artifactKey, file, fileKey, newCheckpoint } from './checkpoint-subject.ts'
import { required } from './required.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'
import { textMessages } from './transcript.ts'
import { BAD_CURSORS, BAD_PAGE_LIMITS, walkPages } from './walk-pages.ts'

const idsOf = (records: readonly { id: string }[]): string[] => records.map(({ id }) => id)
const artifact = (artifactId: string, digit: string) => ({
  artifactId,
  name: artifactId,
  mimeType: 'text/plain',
  size: 1,
  blobKey: artifactKey(digit),
  createdAt: 1,
})

export const checkpointListCases: readonly StoreCase[] = [
  storeCase(
    'checkpoint.list.order',
    'list gives all of a thread by createdAt, then by id in UTF-8 byte order',
    async ({ stores }) => {
      await appendChain(stores, [
        { id: 'late', createdAt: 10_000 },
        { id: '😀', createdAt: 2_000 },
        { id: '\ufffd', createdAt: 2_000 },
        { id: 'b', createdAt: 2_000 },
        { id: 'B', createdAt: 2_000 },
        { id: 'z', createdAt: 900 },
      ])
      await appendChain(stores, [{ id: 'elsewhere' }], 'thread-2')
      assert.deepEqual(idsOf(await stores.checkpoints.list('thread-1')), ['z', 'B', 'b', '\ufffd', '😀', 'late'])
      assert.deepEqual(await stores.checkpoints.list('nothing'), [])
    },
  ),
  storeCase(
    'checkpoint.summaries',
    'listSummaries gives the newest first, with counts and without content',
    async ({ stores }) => {
      const list = required(stores.checkpoints.listSummaries, 'listSummaries').bind(stores.checkpoints)
      const sizes = { files: 2, bytes: 6, addedBytes: 3 }
      const content = {
        files: [file('a'), file('b')],
        conversation: textMessages('x', 'y', 'z'),
        artifacts: [artifact('1', '1')],
      }
      const report = [{ path: 'x', what: 'skipped', reason: 'a socket' }] as const
      await appendChain(stores, [
        {
          id: 'first',
          createdAt: 1,
          reason: 'named',
          label: 'One',
          sourceRunId: 'run-1',
          sizes,
          report: [...report],
          ...content,
        },
        { id: 'second', createdAt: 2, files: [] },
      ])
      const about = { threadId: 'thread-1', fileCount: 2, messageCount: 3, artifactCount: 1 }
      assert.deepEqual(await list({ threadId: 'thread-1' }), {
        checkpoints: [
          {
            ...about,
            id: 'second',
            parentCheckpointId: 'first',
            createdAt: 2,
            reason: 'automatic',
            fileCount: 0,
            messageCount: 1,
            artifactCount: 0,
          },
          {
            ...about,
            id: 'first',
            parentCheckpointId: null,
            createdAt: 1,
            reason: 'named',
            label: 'One',
            sourceRunId: 'run-1',
            sizes,
          },
        ],
      })
      assert.deepEqual(await list({ threadId: 'nothing' }), { checkpoints: [] })
    },
    ['checkpoints.listSummaries'],
  ),
  storeCase(
    'checkpoint.summaries.pages',
    'pages give every checkpoint once, newest first',
    async ({ stores }) => {
      const list = required(stores.checkpoints.listSummaries, 'listSummaries').bind(stores.checkpoints)
      const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
      await appendChain(
        stores,
        ids.map((id, index) => ({ id, createdAt: index < 4 ? 5 : 6 })),
      )
      const pages = await walkPages<CheckpointSummary>(async (page) => {
        const { checkpoints, ...rest } = await list({ threadId: 'thread-1', limit: 2, ...page })
        return { items: checkpoints, ...rest }
      })
      assert.deepEqual(idsOf(pages.flat()), ids.toReversed())
      assert.ok(pages.every((page) => page.length <= 2))
      await refusesBadArguments(BAD_PAGE_LIMITS, { limit: (limit) => list({ threadId: 'thread-1', limit }) })
      await refusesBadArguments(BAD_CURSORS, { cursor: (cursor) => list({ threadId: 'thread-1', cursor }) })
    },
    ['checkpoints.listSummaries'],
  ),
  storeCase(
    'checkpoint.references',
    'listBlobReferences counts checkpoints that name a key, in UTF-8 byte order of the keys',
    async ({ stores }) => {
      const { checkpoints } = stores
      assert.deepEqual(await checkpoints.listBlobReferences(), [])
      const writer = await appendChain(stores, [
        { id: 'first', files: [file('a', 'b'), file('same bytes', 'b'), file('c', '0')] },
        { id: 'second', files: [file('a', 'b')], artifacts: [artifact('1', 'f'), artifact('2', 'f')] },
      ])
      await appendChain(stores, [{ id: 'elsewhere', files: [file('x', 'b')] }], 'thread-2')
      assert.deepEqual(await checkpoints.listBlobReferences(), [
        { key: artifactKey('f'), references: 1 },
        { key: fileKey('0'), references: 1 },
        { key: fileKey('b'), references: 3 },
      ])
      await checkpoints.deleteHead({ threadId: 'thread-1', checkpointId: 'second', writer })
      assert.deepEqual(await checkpoints.listBlobReferences(), [
        { key: fileKey('0'), references: 1 },
        { key: fileKey('b'), references: 2 },
      ])
    },
  ),
  storeCase(
    'checkpoint.delete-thread',
    'deleteThread removes everything of a thread, and may be repeated',
    async ({ stores }) => {
      const { checkpoints } = stores
      const deleteThread = required(checkpoints.deleteThread, 'deleteThread').bind(checkpoints)
      const shared = { files: [file('a', 'b')] }
      await appendChain(stores, [
        { id: 'first', ...shared },
        { id: 'second', ...shared },
      ])
      await appendChain(stores, [{ id: 'elsewhere', ...shared }], 'thread-2')
      await deleteThread('thread-1')
      await deleteThread('thread-1')
      assert.deepEqual(await checkpoints.list('thread-1'), [])
      assert.equal(await checkpoints.getHead('thread-1'), null)
      assert.deepEqual(await checkpoints.listBlobReferences(), [{ key: fileKey('b'), references: 1 }])
      assert.deepEqual((await checkpoints.get('elsewhere'))?.files, shared.files, 'content that was shared stays')
      const writer = await checkpoints.acquireWriter('thread-1')
      await checkpoints.append({ checkpoint: newCheckpoint({ id: 'first' }), expectedHeadId: null, writer })
    },
    ['checkpoints.deleteThread'],
  ),
]
