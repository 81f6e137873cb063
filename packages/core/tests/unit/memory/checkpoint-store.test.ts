import { describe, expect, test } from 'vitest'
import { createMemoryStores } from '../../../src/index.ts'
import type { CheckpointEntry, HoldfastStores, SandboxCheckpoint } from '../../../src/index.ts'
import { ManualClock } from '../../support/manual-clock.ts'

const fileKey = (digit: string): string => `sandbox-files/sha256/${digit.repeat(64)}`
const file = (path: string, digit = 'a'): CheckpointEntry => ({ path, kind: 'file', blobKey: fileKey(digit), size: 1 })

function checkpoint(id: string, change: Partial<SandboxCheckpoint> = {}): SandboxCheckpoint {
  const base = { id, threadId: 't', parentCheckpointId: null, createdAt: 1, reason: 'automatic' as const }
  return { ...base, files: [file('a')], conversation: [{ role: 'user', content: 'hi' }], artifacts: [], ...change }
}

function setUp(): { stores: HoldfastStores; clock: ManualClock } {
  const clock = new ManualClock()
  return { stores: createMemoryStores({ clock }), clock }
}

describe('writer leases', () => {
  test('a second writer is refused without waiting until the first has lapsed', async () => {
    const { stores, clock } = setUp()
    const { checkpoints } = stores
    const first = await checkpoints.acquireWriter('t')
    expect(first).toMatchObject({ expiresAt: clock.now() + 120_000, renewAfterMs: 45_000 })
    await expect(checkpoints.acquireWriter('t')).rejects.toMatchObject({ code: 'SANDBOX_SNAPSHOT_WRITER_CONFLICT' })
    clock.advance(120_000)
    const second = await checkpoints.acquireWriter('t')
    expect(second.fence).toBeGreaterThan(first.fence)
    await expect(first.renew()).rejects.toMatchObject({ code: 'SANDBOX_SNAPSHOT_WRITER_LOST' })
    const append = checkpoints.append({ checkpoint: checkpoint('c'), expectedHeadId: null, writer: first })
    await expect(append).rejects.toMatchObject({ code: 'SANDBOX_SNAPSHOT_WRITER_LOST' })
    await first.release()
    await expect(checkpoints.acquireWriter('t')).rejects.toMatchObject({ code: 'SANDBOX_SNAPSHOT_WRITER_CONFLICT' })
    clock.advance(60_000)
    expect(await second.renew()).toEqual({ expiresAt: clock.now() + 120_000 })
    await second.release()
    await second.release()
    expect((await checkpoints.acquireWriter('t')).fence).toBeGreaterThan(second.fence)
  })
})

describe('append', () => {
  test('checks in the promised order, and a refused call changes nothing', async () => {
    const { stores } = setUp()
    const { checkpoints } = stores
    const writer = await checkpoints.acquireWriter('t')
    const other = await checkpoints.acquireWriter('other')
    await checkpoints.append({ checkpoint: checkpoint('c1'), expectedHeadId: null, writer })
    const bad = { id: '', files: [file('../x')], parentCheckpointId: 'zzz' }
    const refusal = async (change: Partial<SandboxCheckpoint>, expectedHeadId: string | null, by = writer) => {
      const error: unknown = await checkpoints
        .append({ checkpoint: checkpoint('c1', change), expectedHeadId, writer: by })
        .catch((reason: unknown) => reason)
      return Reflect.get(error as object, 'code') as unknown
    }
    expect(await refusal(bad, 'x', other)).toBe('SANDBOX_SNAPSHOT_WRITER_LOST')
    expect(await refusal(bad, 'x')).toBe('SANDBOX_SNAPSHOT_INVALID_ID')
    expect(await refusal({ files: bad.files, parentCheckpointId: 'zzz' }, 'x')).toBe('SANDBOX_SNAPSHOT_INVALID_ENTRY')
    expect(await refusal({ parentCheckpointId: 'zzz' }, 'x')).toBe('SANDBOX_SNAPSHOT_DUPLICATE_ID')
    expect(await refusal({ id: 'c2', parentCheckpointId: 'zzz' }, 'x')).toBe('SANDBOX_SNAPSHOT_STALE_HEAD')
    expect(await refusal({ id: 'c2', parentCheckpointId: 'zzz' }, 'c1')).toBe('SANDBOX_SNAPSHOT_PARENT_MISMATCH')
    expect((await checkpoints.list('t')).map(({ id }) => id)).toEqual(['c1'])
    expect(await checkpoints.getHead('t')).toBe('c1')
  })

  test.each<[string, CheckpointEntry[]]>([
    ['an absolute path', [file('/a')]],
    ['a path through the parent', [file('a/../b')]],
    ['a doubled slash', [file('a//b')]],
    ['an empty path', [file('')]],
    ['NUL', [file('a\0')]],
    ['a lone surrogate', [file('a\ud800')]],
    ['a path twice', [file('a'), file('a', 'b')]],
    ['a path beneath a file', [file('a-b'), file('a/c'), file('a')]],
    ['a path beneath a link', [{ path: 'l', kind: 'symlink', target: '/etc' }, file('l/passwd')]],
    [
      'a foreign blob key',
      [{ path: 'a', kind: 'file', blobKey: `sandbox-artifacts/sha256/${'a'.repeat(64)}`, size: 1 }],
    ],
    ['a negative size', [{ path: 'a', kind: 'file', blobKey: fileKey('a'), size: -1 }]],
    ['file-type bits in a mode', [{ path: 'a', kind: 'dir', mode: 0o40755 }]],
    ['a link without target', [{ path: 'a', kind: 'symlink', target: '' }]],
    ['an unknown kind', [{ path: 'a', kind: 'fifo' } as never]],
  ])('%s is INVALID_ENTRY', async (_what, files) => {
    const { stores } = setUp()
    const writer = await stores.checkpoints.acquireWriter('t')
    const append = stores.checkpoints.append({ checkpoint: checkpoint('c', { files }), expectedHeadId: null, writer })
    await expect(append).rejects.toMatchObject({ code: 'SANDBOX_SNAPSHOT_INVALID_ENTRY' })
  })

  test('values are copies on the way in and out', async () => {
    const { stores } = setUp()
    const { checkpoints } = stores
    const writer = await checkpoints.acquireWriter('t')
    const given = checkpoint('c')
    await checkpoints.append({ checkpoint: given, expectedHeadId: null, writer })
    given.files.push(file('b'))
    const read = await checkpoints.get('c')
    expect(read?.files).toHaveLength(1)
    read?.files.pop()
    expect((await checkpoints.get('c'))?.files).toHaveLength(1)
  })
})

test('the head can be deleted back to its parent, and nothing else', async () => {
  const { stores } = setUp()
  const { checkpoints } = stores
  const writer = await checkpoints.acquireWriter('t')
  await checkpoints.append({ checkpoint: checkpoint('c1'), expectedHeadId: null, writer })
  await checkpoints.append({ checkpoint: checkpoint('c2', { parentCheckpointId: 'c1' }), expectedHeadId: 'c1', writer })
  await expect(checkpoints.deleteHead({ threadId: 't', checkpointId: 'c1', writer })).rejects.toMatchObject({
    code: 'SANDBOX_SNAPSHOT_NOT_HEAD',
  })
  expect(await checkpoints.deleteHead({ threadId: 't', checkpointId: 'c2', writer })).toEqual({ headId: 'c1' })
  expect(await checkpoints.deleteHead({ threadId: 't', checkpointId: 'c1', writer })).toEqual({ headId: null })
  expect(await checkpoints.getHead('t')).toBeNull()
})

test('lists are ordered by time and UTF-8 bytes, summaries newest first by pages', async () => {
  const { stores } = setUp()
  const { checkpoints } = stores
  const writer = await checkpoints.acquireWriter('t')
  let parent: string | null = null
  for (const id of ['\u{1f600}', '\uffee', 'z']) {
    await checkpoints.append({
      checkpoint: checkpoint(id, { parentCheckpointId: parent }),
      expectedHeadId: parent,
      writer,
    })
    parent = id
  }
  expect((await checkpoints.list('t')).map(({ id }) => id)).toEqual(['z', '\uffee', '\u{1f600}'])
  const first = await checkpoints.listSummaries?.({ threadId: 't', limit: 2 })
  expect(first?.checkpoints.map(({ id }) => id)).toEqual(['\u{1f600}', '\uffee'])
  expect(first?.checkpoints[0]).toMatchObject({ fileCount: 1, messageCount: 1, artifactCount: 0 })
  expect(first?.checkpoints[0]).not.toHaveProperty('files')
  const rest = await checkpoints.listSummaries?.({ threadId: 't', limit: 2, cursor: first?.cursor ?? '' })
  expect(rest?.checkpoints.map(({ id }) => id)).toEqual(['z'])
  expect(rest).not.toHaveProperty('cursor')
  await expect(checkpoints.listSummaries?.({ threadId: 't', cursor: 'nonsense' })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
  })
})

test('a blob is referenced once by each checkpoint that names it', async () => {
  const { stores } = setUp()
  const { checkpoints } = stores
  const writer = await checkpoints.acquireWriter('t')
  const files = [file('a', 'b'), file('b', 'b'), file('c', 'a')]
  await checkpoints.append({ checkpoint: checkpoint('c1', { files }), expectedHeadId: null, writer })
  await checkpoints.append({
    checkpoint: checkpoint('c2', { files: [file('a', 'b')], parentCheckpointId: 'c1' }),
    expectedHeadId: 'c1',
    writer,
  })
  expect(await checkpoints.listBlobReferences()).toEqual([
    { key: fileKey('a'), references: 1 },
    { key: fileKey('b'), references: 2 },
  ])
})

test('a fork copies checkpoint, conversation and head to an empty thread only', async () => {
  const { stores } = setUp()
  const { checkpoints, messages } = stores
  const writer = await checkpoints.acquireWriter('t')
  await checkpoints.append({ checkpoint: checkpoint('c1', { label: 'mine' }), expectedHeadId: null, writer })
  const destination = await checkpoints.acquireWriter('new')
  const input = {
    sourceThreadId: 't',
    sourceCheckpointId: 'c1',
    destinationThreadId: 'new',
    destinationCheckpointId: 'f1',
    createdAt: 9,
    writer: destination,
  }
  const fork = (change: object) => checkpoints.forkFromCheckpoint?.({ ...input, ...change })
  await expect(fork({ writer })).rejects.toMatchObject({ code: 'SANDBOX_SNAPSHOT_WRITER_LOST' })
  await expect(fork({ sourceCheckpointId: 'x' })).rejects.toMatchObject({
    code: 'SANDBOX_SNAPSHOT_FORK_SOURCE_NOT_FOUND',
  })
  await expect(fork({ sourceThreadId: 'x' })).rejects.toMatchObject({
    code: 'SANDBOX_SNAPSHOT_FORK_SOURCE_THREAD_MISMATCH',
  })
  expect((await fork({}))?.checkpoint).toMatchObject({
    id: 'f1',
    threadId: 'new',
    parentCheckpointId: null,
    reason: 'fork-root',
  })
  expect(await messages.loadThread('new')).toEqual([{ role: 'user', content: 'hi' }])
  expect(await checkpoints.getHead('new')).toBe('f1')
  await expect(fork({ destinationCheckpointId: 'f2' })).rejects.toMatchObject({
    code: 'SANDBOX_SNAPSHOT_FORK_DESTINATION_NOT_EMPTY',
  })
  expect(await checkpoints.getHead('t')).toBe('c1')
})
