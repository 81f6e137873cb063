import { createMemoryStores, isHoldfastError } from '@holdfast/core'
import { FakeClock } from '@holdfast/testing'
import type { ModelMessage } from '@tanstack/ai'
import { describe, expect, it } from 'vitest'
import { noteNewHead, followHead } from '../../../src/checkpoints/thread/follow-head.ts'
import type { RunDriver } from '../../../src/runs/run-driver.ts'
import { takeOverRun } from '../../../src/runs/take-over-run.ts'
import { threadFixture } from '../../fixtures/thread-fixture.ts'
import type { ThreadFixture } from '../../fixtures/thread-fixture.ts'
import { memorySandbox, sh } from '../../fixtures/workspace-fixture.ts'

const thread = { threadId: 'thread-1' }

async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'resolved'
  } catch (error) {
    return isHoldfastError(error) ? error.code : String(error)
  }
}

function textsOf(messages: readonly ModelMessage[]): unknown[] {
  return messages.map(({ content }) => content)
}

async function savedTwice(): Promise<ThreadFixture & { first: string; second: string }> {
  const fixture = await threadFixture()
  const handle = await fixture.open()
  await fixture.say('one')
  await handle.fs.write('/workspace/file', 'one\n')
  const first = await fixture.checkpoints.save({ ...thread, label: 'first' })
  await fixture.say('two')
  await handle.fs.write('/workspace/file', 'two\n')
  await handle.fs.write('/workspace/added', 'added\n')
  const second = await fixture.checkpoints.save({ ...thread, label: 'second' })
  return { ...fixture, first: first.id, second: second.id }
}

describe('save', () => {
  it('is refused without a live sandbox, and for one that is never reused', async () => {
    const fixture = await threadFixture()
    expect(await codeOf(fixture.checkpoints.save(thread))).toBe('SANDBOX_SNAPSHOT_MISSING_REUSABLE_SANDBOX')
    const other = await threadFixture({ definition: { lifecycle: { reuse: 'none' } } })
    expect(await codeOf(other.checkpoints.save(thread))).toBe('SANDBOX_SNAPSHOT_REUSE_NONE')
  })

  it('is refused while a run holds the thread, and leaves no run behind that does', async () => {
    const { checkpoints, stores, open } = await threadFixture()
    await open()
    await stores.drivers.claim({ runId: 'run-1', threadId: 'thread-1', owner: 'other', ttlMs: 60_000 })
    expect(await codeOf(checkpoints.save(thread))).toBe('THREAD_BUSY')
    await stores.drivers.finish({ runId: 'run-1', epoch: 1, status: 'completed' })
    expect(await codeOf(checkpoints.save(thread))).toBe('resolved')
    expect(await stores.runs.findActiveRun('thread-1')).toBeNull()
    expect(await stores.drivers.list({ status: 'running', limit: 10 })).toEqual([])
  })

  it('gives a chain, newest first, with what changed', async () => {
    const { checkpoints, first, second } = await savedTwice()
    const page = await checkpoints.list(thread)
    expect(page.headId).toBe(second)
    expect(page.checkpoints.map(({ id, label, reason }) => [id, label, reason])).toEqual([
      [second, 'second', 'named'],
      [first, 'first', 'named'],
    ])
    expect(page.checkpoints[0]).toMatchObject({ parentCheckpointId: first, sizes: { files: 2, changedFiles: 2 } })
  })
})

describe('another tenant', () => {
  it('finds nothing, whatever ids it knows', async () => {
    const { checkpoints, first, second } = await savedTwice()
    const foreign = { ...thread, tenant: { userId: 'stranger' } }
    const calls = [
      checkpoints.save(foreign),
      checkpoints.list(foreign),
      checkpoints.get({ ...foreign, checkpointId: first }),
      checkpoints.restore({ ...foreign, checkpointId: first, into: await memorySandbox() }),
      checkpoints.fork({ ...foreign, checkpointId: first }),
      checkpoints.rewind({ ...foreign, checkpointId: first }),
      checkpoints.diff({ ...foreign, from: first, to: second }),
      checkpoints.artifacts.list(foreign),
      checkpoints.readArtifact({ ...foreign, artifactId: 'any' }),
      checkpoints.artifacts.save({ ...foreign, name: 'a.txt', body: 'a' }),
    ]
    for (const call of calls) expect(await codeOf(call)).toBe('THREAD_NOT_FOUND')
  })

  it('gets no checkpoint of a foreign thread through a thread of its own', async () => {
    const { checkpoints, stores, first } = await savedTwice()
    await stores.threads.ensure({ threadId: 'thread-2', ownerId: 'local' })
    const own = { threadId: 'thread-2' }
    for (const call of [
      checkpoints.get({ ...own, checkpointId: first }),
      checkpoints.rewind({ ...own, checkpointId: first }),
      checkpoints.fork({ ...own, checkpointId: first }),
      checkpoints.diff({ ...own, from: first, to: first }),
    ]) {
      expect(await codeOf(call)).toBe('SANDBOX_SNAPSHOT_CHECKPOINT_NOT_FOUND')
    }
  })
})

describe('rewind', () => {
  it('is refused while a run is active', async () => {
    const { checkpoints, stores, first, second } = await savedTwice()
    await stores.drivers.claim({ runId: 'run-1', threadId: 'thread-1', owner: 'other', ttlMs: 60_000 })
    expect(await codeOf(checkpoints.rewind({ ...thread, checkpointId: first }))).toBe('THREAD_BUSY')
    expect(await stores.checkpoints.getHead('thread-1')).toBe(second)
  })

  it('brings files and conversation back as a new head, and history stays readable', async () => {
    const { checkpoints, stores, existing, first, second } = await savedTwice()
    const { checkpoint, isSandboxRestored } = await checkpoints.rewind({ ...thread, checkpointId: first })
    expect(isSandboxRestored).toBe(true)
    expect(checkpoint).toMatchObject({ reason: 'rewind', parentCheckpointId: second })
    const handle = await existing()
    expect(await handle?.fs.read('/workspace/file')).toBe('one\n')
    expect(await handle?.fs.exists('/workspace/added')).toBe(false)
    expect(textsOf(await stores.messages.loadThread('thread-1'))).toEqual(['one'])
    const page = await checkpoints.list(thread)
    expect(page.checkpoints.map(({ id }) => id)).toEqual([checkpoint.id, second, first])
    await checkpoints.rewind({ ...thread, checkpointId: second })
    expect(await (await existing())?.fs.read('/workspace/file')).toBe('two\n')
    expect(textsOf(await stores.messages.loadThread('thread-1'))).toEqual(['one', 'two'])
  })

  it('saves first what no checkpoint holds yet', async () => {
    const { checkpoints, existing, first, second } = await savedTwice()
    await (await existing())?.fs.write('/workspace/file', 'unsaved\n')
    await checkpoints.rewind({ ...thread, checkpointId: first })
    const [, before] = (await checkpoints.list(thread)).checkpoints
    expect(before).toMatchObject({ reason: 'automatic', label: 'before a rewind', parentCheckpointId: second })
    await checkpoints.rewind({ ...thread, checkpointId: before?.id ?? '' })
    expect(await (await existing())?.fs.read('/workspace/file')).toBe('unsaved\n')
  })

  it('stops what runs in the sandbox', async () => {
    const { checkpoints, existing, first } = await savedTwice()
    const handle = await existing()
    await handle?.process.spawn('while true; do date > ticking; sleep 0.05; done')
    await checkpoints.rewind({ ...thread, checkpointId: first })
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(await (await existing())?.fs.exists('/workspace/ticking')).toBe(false)
  })

  it('works without a live sandbox: the head is what the next sandbox gets', async () => {
    const { checkpoints, stores, sandbox, first } = await savedTwice()
    await sandbox.destroy({ threadId: 'thread-1', runId: 'x', store: stores.instances, locks: stores.locks })
    const { checkpoint, isSandboxRestored } = await checkpoints.rewind({ ...thread, checkpointId: first })
    expect(isSandboxRestored).toBe(false)
    expect(await stores.checkpoints.getHead('thread-1')).toBe(checkpoint.id)
  })

  it('that died after its new head is completed by whoever settles the thread', async () => {
    const { stores, first, second } = await savedTwice()
    const target = await stores.checkpoints.get(first)
    if (target === null) throw new Error('no checkpoint')
    const writer = await stores.checkpoints.acquireWriter('thread-1')
    const rewound = {
      ...target,
      id: 'rewound',
      parentCheckpointId: second,
      createdAt: Date.now() + 5,
      reason: 'rewind' as const,
    }
    await noteNewHead(stores, 'thread-1', 'rewound')
    const fence = { runId: 'checkpoint:rewind:1', epoch: 1 }
    await stores.drivers.claim({ ...fence, threadId: 'thread-1', owner: 'me', ttlMs: 60_000 })
    await followHead(stores, 'thread-1', fence)
    expect(textsOf(await stores.messages.loadThread('thread-1'))).toEqual(['one', 'two'])
    await noteNewHead(stores, 'thread-1', 'rewound')
    await stores.checkpoints.append({ checkpoint: rewound, expectedHeadId: second, writer })
    await followHead(stores, 'thread-1', fence)
    await followHead(stores, 'thread-1', fence)
    expect(textsOf(await stores.messages.loadThread('thread-1'))).toEqual(['one'])
  })
})

describe('a thread that was held by a host that died', () => {
  it('is settled by whoever continues runs, and no model is asked', async () => {
    const { stores } = await threadFixture({ stores: createMemoryStores({ clock: new FakeClock(0) }) })
    const runId = 'checkpoint:rewind:1'
    await stores.drivers.claim({ runId, threadId: 'thread-1', owner: 'dead', ttlMs: 0 })
    const driver = { tools: [], drive: () => expect.fail('It was driven.') }
    expect(await takeOverRun({ stores, runId, driver: driver as unknown as RunDriver })).toBe('settled')
    expect(await stores.runs.findActiveRun('thread-1')).toBeNull()
  })
})

describe('fork', () => {
  it('begins a new thread with files, conversation and artifacts, and leaves the source alone', async () => {
    const fixture = await savedTwice()
    const { checkpoints, stores, first, second } = fixture
    const artifact = await checkpoints.artifacts.save({ ...thread, name: 'report.txt', body: 'report' })
    const third = await checkpoints.save(thread)
    const { threadId, checkpoint } = await checkpoints.fork({ ...thread, title: 'A branch' })
    expect(checkpoint).toMatchObject({ reason: 'fork-root', parentCheckpointId: null })
    expect(textsOf(await stores.messages.loadThread(threadId))).toEqual(['one', 'two'])
    expect(await stores.threads.find(threadId, 'local')).toMatchObject({ title: 'A branch' })
    expect(await stores.checkpoints.getHead('thread-1')).toBe(third.id)
    expect((await checkpoints.list(thread)).checkpoints.map(({ id }) => id)).toEqual([third.id, second, first])
    const [forked] = await checkpoints.artifacts.list({ threadId })
    expect(forked).toMatchObject({ name: 'report.txt', threadId })
    expect(forked?.artifactId).not.toBe(artifact.artifactId)
    expect(await stores.artifacts.get(artifact.artifactId)).toMatchObject({ threadId: 'thread-1' })
    const { body } = await checkpoints.readArtifact({ threadId, artifactId: forked?.artifactId ?? '' })
    expect(await new Response(body).text()).toBe('report')
    await stores.checkpoints.acquireWriter(threadId)
  })

  it('into a thread that has something is refused', async () => {
    const { checkpoints, stores, say } = await savedTwice()
    await stores.threads.ensure({ threadId: 'thread-2', ownerId: 'local' })
    await say('already here', 'thread-2')
    const call = checkpoints.fork({ ...thread, destinationThreadId: 'thread-2' })
    expect(await codeOf(call)).toBe('SANDBOX_SNAPSHOT_FORK_DESTINATION_NOT_EMPTY')
  })
})

describe('diff', () => {
  it('shows files as unified diffs and the conversation as what came and went', async () => {
    const { checkpoints, first, second } = await savedTwice()
    const diff = await checkpoints.diff({ ...thread, from: first, to: second })
    expect(diff.files.map(({ path, change }) => [path, change])).toEqual([
      ['added', 'added'],
      ['file', 'changed'],
    ])
    expect(diff.files[1]?.diff).toContain('-one\n+two\n')
    expect(diff.conversation).toMatchObject({ common: 1, removed: [], added: [{ content: 'two' }] })
  })
})

describe('restore', () => {
  it('writes a checkpoint into a sandbox of another provider', async () => {
    const { checkpoints, first } = await savedTwice()
    const into = await memorySandbox()
    await into.fs.write('/workspace/stray', 'x')
    await checkpoints.restore({ ...thread, checkpointId: first, into })
    expect(await sh(into, 'ls; cat file')).toBe('file\none\n')
  })
})

describe('artifacts', () => {
  it('come back with a rewind, and stay readable from the checkpoint that has them', async () => {
    const { checkpoints, first } = await savedTwice()
    const { artifactId } = await checkpoints.artifacts.save({ ...thread, name: '../../page.html', body: '<b>' })
    const { id } = await checkpoints.save(thread)
    await checkpoints.rewind({ ...thread, checkpointId: first })
    expect(await checkpoints.artifacts.list(thread)).toEqual([])
    const { artifact, body } = await checkpoints.readArtifact({ ...thread, artifactId, checkpointId: id })
    expect(artifact).toMatchObject({ name: 'page.html', mimeType: 'text/html' })
    expect(await new Response(body).text()).toBe('<b>')
    await checkpoints.rewind({ ...thread, checkpointId: id })
    expect(await checkpoints.artifacts.list(thread)).toMatchObject([{ artifactId }])
  })
})

describe('prune', () => {
  it('keeps heads and named ones, and collects bytes that nothing names once their grace is over', async () => {
    const clock = new FakeClock()
    const stores = createMemoryStores({ clock })
    const { checkpoints, open } = await threadFixture({ stores, options: { clock } })
    const handle = await open()
    for (const text of ['one', 'two', 'three']) {
      await handle.fs.write('/workspace/file', text)
      await checkpoints.save(thread)
    }
    expect(await checkpoints.prune({ keepLast: 1 })).toMatchObject({ checkpoints: 0 })
    expect(await checkpoints.prune({ keepLast: 1, keepNamed: false, dryRun: true })).toMatchObject({ checkpoints: 2 })
    expect(await checkpoints.prune({ keepLast: 1, keepNamed: false })).toMatchObject({ checkpoints: 2, blobs: 0 })
    expect((await checkpoints.list(thread)).checkpoints).toHaveLength(1)
    await clock.advance(7_200_000)
    expect(await checkpoints.prune({ keepLast: 1, keepNamed: false })).toEqual({
      checkpoints: 0,
      blobs: 2,
      blobBytes: 6,
    })
    const { files } = await checkpoints.get(thread)
    expect((await stores.blobs.list()).objects.map(({ key }) => key)).toEqual(
      files.flatMap((entry) => (entry.kind === 'file' ? [entry.blobKey] : [])),
    )
  })
})
