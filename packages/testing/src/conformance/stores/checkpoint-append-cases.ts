import assert from 'node:assert/strict'
import type {
  CheckpointEntry,
  CheckpointWriterLease,
  ErrorCode,
  HoldfastStores,
  SandboxCheckpoint,
} from '@holdfast/core'
import { BAD_IDS } from './bad-input.ts'
import { appendChain, artifactKey, file, fileKey, newCheckpoint } from './checkpoint-subject.ts'
import { rejectsWith } from './rejects-with.ts'
import { required } from './required.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'
import { fullTranscript, textMessages } from './transcript.ts'

const ARTIFACT = {
  artifactId: 'artifact-1',
  name: 'report "1".pdf',
  mimeType: 'application/pdf',
  size: 3,
  blobKey: artifactKey('b'),
  createdAt: 5,
}

const FULL: SandboxCheckpoint = {
  id: 'full',
  threadId: 'thread-1',
  parentCheckpointId: null,
  createdAt: 1_000,
  reason: 'named',
  label: 'before the rewrite',
  sourceRunId: 'run-1',
  files: [
    { path: 'a', kind: 'dir' },
    { path: 'a/run.sh', kind: 'file', blobKey: fileKey('1'), size: 10, mode: 0o755 },
    { path: 'b', kind: 'dir', mode: 0o700 },
    { path: 'b/empty', kind: 'file', blobKey: fileKey('2'), size: 0 },
    { path: 'link', kind: 'symlink', target: '../outside/dangling' },
  ],
  conversation: fullTranscript(),
  artifacts: [ARTIFACT],
  policy: { include: ['**'], exclude: ['.git', '*.key'], onSecret: 'redact' },
  report: [{ path: '.env', what: 'excluded', reason: 'excluded by the policy' }],
  sizes: { files: 2, bytes: 10, addedBytes: 10 },
}

/** Names that Linux can have; none may change on the way. */
const ODD_PATHS = [
  ' lead',
  '-dash',
  '__proto__',
  'a"b',
  "it's",
  'constructor/x',
  'line\nfeed',
  'tab\t',
  'é',
  'e\u0301',
  '漢字',
  '😀',
  '...',
  '.hidden',
]

const BAD_FILES: Readonly<Record<string, CheckpointEntry[]>> = {
  'an empty path': [file('')],
  'an absolute path': [file('/a')],
  'a path that ends in a slash': [file('a/')],
  'an empty name': [file('a//b')],
  dot: [file('.')],
  'a dot name': [file('./a')],
  'dot dot': [file('..')],
  'a path that leaves': [file('a/../../b')],
  NUL: [file('a\0b')],
  'a lone surrogate': [file('a\ud800')],
  'the same path twice': [file('a'), file('b'), file('a', 'b')],
  'a path beneath a file': [file('a'), file('a/b')],
  'a path beneath a link': [{ path: 'a', kind: 'symlink', target: 'x' }, file('a/b/c')],
  'a key that is no hash': [{ path: 'a', kind: 'file', blobKey: 'sandbox-files/sha256/short', size: 1 }],
  'a key in capitals': [{ path: 'a', kind: 'file', blobKey: fileKey('A'), size: 1 }],
  'a key of an artifact': [{ path: 'a', kind: 'file', blobKey: artifactKey('a'), size: 1 }],
  'a negative size': [{ path: 'a', kind: 'file', blobKey: fileKey('a'), size: -1 }],
  'a size that is no number': [{ path: 'a', kind: 'file', blobKey: fileKey('a'), size: Number.NaN }],
  'a mode beyond the permission bits': [{ path: 'a', kind: 'dir', mode: 0o100644 }],
  'a link without a target': [{ path: 'a', kind: 'symlink', target: '' }],
  'an unknown kind': [{ path: 'a', kind: 'socket' } as unknown as CheckpointEntry],
}

type Attempt = {
  checkpoint?: Partial<SandboxCheckpoint>
  expectedHeadId?: string | null
  writer?: CheckpointWriterLease
}

/** The append must be refused with `code`, and must change nothing. `base` is a chain of one with the head `first`. */
async function refusesAppend(
  stores: HoldfastStores,
  base: CheckpointWriterLease,
  code: ErrorCode,
  attempt: Attempt,
  what?: string,
) {
  const { checkpoints } = stores
  const state = async () => [
    await checkpoints.list('thread-1'),
    await checkpoints.getHead('thread-1'),
    await checkpoints.listBlobReferences(),
  ]
  const before = await state()
  const checkpoint = newCheckpoint({ id: 'second', parentCheckpointId: 'first', ...attempt.checkpoint })
  const input = { expectedHeadId: 'first', writer: base, ...attempt, checkpoint }
  await rejectsWith(code, () => checkpoints.append(input), what)
  assert.deepEqual(await state(), before, 'a refused append changes nothing')
}

const storeCases: readonly StoreCase[] = [
  storeCase(
    'checkpoint.append',
    'append stores the checkpoint and makes it the head',
    async ({ stores: { checkpoints } }) => {
      assert.equal(await checkpoints.getHead('thread-1'), null)
      const writer = await checkpoints.acquireWriter('thread-1')
      const first = newCheckpoint({ id: 'first' })
      assert.deepEqual(await checkpoints.append({ checkpoint: first, expectedHeadId: null, writer }), {
        headId: 'first',
      })
      const second = newCheckpoint({ id: 'second', parentCheckpointId: 'first' })
      await checkpoints.append({ checkpoint: second, expectedHeadId: 'first', writer })
      assert.equal(await checkpoints.getHead('thread-1'), 'second')
      assert.deepEqual(await checkpoints.get('first'), first)
      assert.deepEqual(await checkpoints.get('second'), second)
      assert.equal(await checkpoints.get('nothing'), null)
      assert.equal(await checkpoints.getHead('thread-2'), null)
    },
  ),
  storeCase('checkpoint.append.keeps-everything', 'a checkpoint comes back as it was stored', async ({ stores }) => {
    await appendChain(stores, [FULL, { ...FULL, id: 'same content', parentCheckpointId: 'full' }])
    assert.deepEqual(await stores.checkpoints.get('full'), FULL)
    const again = { ...FULL, id: 'same content', parentCheckpointId: 'full' }
    assert.deepEqual(await stores.checkpoints.list('thread-1'), [FULL, again])
  }),
  storeCase('checkpoint.append.every-reason', 'every reason is kept, and empty content too', async ({ stores }) => {
    const reasons = ['automatic', 'named', 'fork-root', 'rewind', 'before-destroy', 'failed-run'] as const
    await appendChain(
      stores,
      reasons.map((reason) => ({ id: reason, reason, files: [], conversation: [] })),
    )
    for (const reason of reasons) assert.equal((await stores.checkpoints.get(reason))?.reason, reason)
  }),
  storeCase(
    'checkpoint.append.odd-paths',
    'paths are kept exactly, whatever characters they have',
    async ({ stores }) => {
      const files = ODD_PATHS.map((path) => file(path))
      await appendChain(stores, [{ id: 'odd', files }])
      const stored = required(await stores.checkpoints.get('odd'), 'the checkpoint')
      assert.deepEqual(stored.files.map(({ path }) => path).toSorted(), ODD_PATHS.toSorted())
    },
  ),
  storeCase(
    'checkpoint.append.many-files',
    'a checkpoint of 5,000 files and 300 messages is kept',
    async ({ stores }) => {
      const files = Array.from({ length: 5_000 }, (_, index) => file(`dir-${index % 50}/file-${index}`))
      const dirs = Array.from({ length: 50 }, (_, index): CheckpointEntry => ({ path: `dir-${index}`, kind: 'dir' }))
      const all = [...dirs, ...files].toSorted((left, right) =>
        Buffer.compare(Buffer.from(left.path), Buffer.from(right.path)),
      )
      const conversation = textMessages(...Array.from({ length: 300 }, (_, index) => `${index}`))
      await appendChain(stores, [{ id: 'large', files: all, conversation }])
      const stored = required(await stores.checkpoints.get('large'), 'the checkpoint')
      assert.deepEqual(stored.files, all)
      assert.deepEqual(stored.conversation, conversation)
    },
  ),
  storeCase('checkpoint.copies', 'checkpoints are copies on the way in and out', async ({ stores }) => {
    const given = structuredClone(FULL)
    await appendChain(stores, [given])
    given.files.pop()
    required(given.conversation[0], 'a message').content = 'changed after'
    const read = required(await stores.checkpoints.get('full'), 'the checkpoint')
    assert.deepEqual(read, FULL)
    read.label = 'changed by a reader'
    required(read.artifacts[0], 'an artifact').name = 'changed by a reader'
    assert.deepEqual(await stores.checkpoints.get('full'), FULL)
    assert.deepEqual(await stores.checkpoints.list('thread-1'), [FULL])
  }),
]

const refusalCases: readonly StoreCase[] = [
  storeCase(
    'checkpoint.append.writer-lost',
    'append needs a live lease of the thread, before all else',
    async ({ stores }) => {
      const base = await appendChain(stores, [{ id: 'first' }])
      const foreign = await stores.checkpoints.acquireWriter('thread-2')
      const code = 'SANDBOX_SNAPSHOT_WRITER_LOST'
      await refusesAppend(stores, base, code, { writer: foreign }, 'the lease of another thread')
      await refusesAppend(stores, base, code, { writer: { ...base, ownerToken: 'invented' } }, 'an invented token')
      await refusesAppend(stores, base, code, { writer: { ...base, fence: base.fence + 1 } }, 'an invented fence')
      await refusesAppend(stores, base, code, { writer: foreign, checkpoint: { id: '', files: [file('/')] } })
      await base.release()
      await refusesAppend(stores, base, code, { checkpoint: { id: '' } }, 'a released lease')
    },
  ),
  storeCase(
    'checkpoint.append.invalid-id',
    'malformed ids are refused, before malformed entries',
    async ({ stores }) => {
      const base = await appendChain(stores, [{ id: 'first' }])
      const code = 'SANDBOX_SNAPSHOT_INVALID_ID'
      for (const [what, bad] of BAD_IDS) {
        await refusesAppend(stores, base, code, { checkpoint: { id: bad, files: [file('/')] } }, `id: ${what}`)
        await refusesAppend(stores, base, code, { checkpoint: { parentCheckpointId: bad } }, `parent: ${what}`)
        await refusesAppend(stores, base, code, { checkpoint: { sourceRunId: bad } }, `run: ${what}`)
        const artifacts = [{ ...ARTIFACT, artifactId: bad }]
        await refusesAppend(stores, base, code, { checkpoint: { artifacts } }, `artifact: ${what}`)
      }
    },
  ),
  storeCase(
    'checkpoint.append.invalid-entry',
    'malformed entries are refused, before a duplicate id',
    async ({ stores }) => {
      const base = await appendChain(stores, [{ id: 'first' }])
      const code = 'SANDBOX_SNAPSHOT_INVALID_ENTRY'
      for (const [what, files] of Object.entries(BAD_FILES)) {
        await refusesAppend(stores, base, code, { checkpoint: { id: 'first', files } }, what)
      }
      for (const change of [{ blobKey: fileKey('a') }, { size: -1 }, { createdAt: Number.NaN }]) {
        await refusesAppend(
          stores,
          base,
          code,
          { checkpoint: { artifacts: [{ ...ARTIFACT, ...change }] } },
          JSON.stringify(change),
        )
      }
    },
  ),
  storeCase(
    'checkpoint.append.duplicate-id',
    'an id that exists in any thread is refused, before a stale head',
    async ({ stores }) => {
      await appendChain(stores, [{ id: 'elsewhere' }], 'thread-2')
      const base = await appendChain(stores, [{ id: 'first' }])
      const code = 'SANDBOX_SNAPSHOT_DUPLICATE_ID'
      await refusesAppend(stores, base, code, { checkpoint: { id: 'first' }, expectedHeadId: 'stale' })
      await refusesAppend(stores, base, code, { checkpoint: { id: 'elsewhere' } })
    },
  ),
  storeCase(
    'checkpoint.append.stale-head',
    'another head than expected is refused, before a wrong parent',
    async ({ stores }) => {
      const base = await appendChain(stores, [{ id: 'first' }])
      const code = 'SANDBOX_SNAPSHOT_STALE_HEAD'
      await refusesAppend(stores, base, code, { expectedHeadId: null, checkpoint: { parentCheckpointId: null } })
      await refusesAppend(stores, base, code, { expectedHeadId: 'other' })
    },
  ),
  storeCase('checkpoint.append.parent-mismatch', 'a parent that is not the head is refused', async ({ stores }) => {
    const base = await appendChain(stores, [{ id: 'first' }])
    const code = 'SANDBOX_SNAPSHOT_PARENT_MISMATCH'
    await refusesAppend(stores, base, code, { checkpoint: { parentCheckpointId: null } })
    await refusesAppend(stores, base, code, { checkpoint: { parentCheckpointId: 'other' } })
  }),
  storeCase(
    'checkpoint.append.one-of-many',
    'of simultaneous appends on one head exactly one is accepted',
    async ({ stores }) => {
      const writer = await appendChain(stores, [{ id: 'first' }])
      const racing = Array.from({ length: 10 }, (_, index) =>
        stores.checkpoints.append({
          checkpoint: newCheckpoint({ id: `racer-${index}`, parentCheckpointId: 'first' }),
          expectedHeadId: 'first',
          writer,
        }),
      )
      const results = await Promise.allSettled(racing)
      assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
      assert.equal((await stores.checkpoints.list('thread-1')).length, 2)
    },
  ),
]

export const checkpointAppendCases: readonly StoreCase[] = [...storeCases, ...refusalCases]
