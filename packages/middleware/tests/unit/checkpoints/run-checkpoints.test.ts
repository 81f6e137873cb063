import type { SandboxHandle } from '@holdfast/core'
import { describe, expect, it } from 'vitest'
import { findCheckpointFailure } from '../../../src/checkpoints/run/checkpoint-failures.ts'
import { CHECKPOINT_FAILED_EVENT, CHECKPOINT_SAVED_EVENT } from '../../../src/checkpoints/run/run-checkpoints.ts'
import { eventsOf, storedChunks } from '../../fixtures/chat-fixture.ts'
import { gate } from '../../fixtures/gate.ts'
import { routesFixture } from '../../fixtures/routes-fixture.ts'
import type { RoutesFixture, RoutesFixtureOptions } from '../../fixtures/routes-fixture.ts'

const call = (name: string, args: Record<string, unknown>): { call: string; args: Record<string, unknown> } => ({
  call: name,
  args,
})
const bash = (command: string) => call('bash', { command })

function checkpointed(options: RoutesFixtureOptions): Promise<RoutesFixture> {
  return routesFixture({ ...options, routes: { checkpoints: {}, ...options.routes } })
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5))
}

async function destroySandboxes({ sandbox, stores, sandboxIds }: RoutesFixture): Promise<void> {
  for (const id of await sandboxIds()) await sandbox.provider.destroy({ id })
  for (const { key } of (await stores.instances.list?.({}))?.records ?? []) await stores.instances.delete(key)
}

describe('a run that ends well', () => {
  it('is saved with its files, its conversation and its place in the chain, before the run is finished', async () => {
    const fixture = await checkpointed({ turns: [[bash('echo 1 > kept')], [{ say: 'done' }]] })
    await eventsOf(await fixture.send('run-1'))
    const { checkpoints } = fixture.stores
    const headId = (await checkpoints.getHead('thread-1')) ?? ''
    const head = await checkpoints.get(headId)
    expect(head).toMatchObject({ reason: 'automatic', sourceRunId: 'run-1', parentCheckpointId: null })
    expect(head?.files.map(({ path }) => path)).toEqual(['kept'])
    expect(head?.conversation.at(-1)).toMatchObject({ role: 'assistant', content: 'done' })
    expect(head?.conversation).toEqual(await fixture.stores.messages.loadThread('thread-1'))
    const chunks = await storedChunks(fixture.stores, 'run-1')
    expect(JSON.stringify(chunks)).toContain(CHECKPOINT_SAVED_EVENT)
    expect(chunks.at(-1)?.type).toBe('RUN_FINISHED')
  })

  it('comes back in a new sandbox, whatever became of the old one', async () => {
    const turns = [
      [bash('mkdir d; echo 1 > d/kept; chmod 700 d')],
      [{ say: 'ok' }],
      [bash('cat d/kept; stat -c %a d')],
      [{ say: 'ok' }],
    ]
    const fixture = await checkpointed({ turns })
    await eventsOf(await fixture.send('run-1'))
    await destroySandboxes(fixture)
    await eventsOf(await fixture.send('run-2', 'again'))
    const results = (await fixture.stores.messages.loadThread('thread-1')).filter(({ role }) => role === 'tool')
    expect(results[1]?.content).toContain(String.raw`"stdout":"1\n700\n"`)
  })

  it('lets the writer go, so that the next run can save', async () => {
    const fixture = await checkpointed({ turns: [[{ say: 'ok' }]] })
    await eventsOf(await fixture.send('run-1'))
    await eventsOf(await fixture.send('run-2', 'again'))
    expect(await fixture.stores.checkpoints.list('thread-1')).toHaveLength(2)
    await (await fixture.stores.checkpoints.acquireWriter('thread-1')).release()
  })

  it('is saved like any other when its viewer left', async () => {
    const held = gate()
    const fixture = await checkpointed({ turns: [[{ say: 'a' }, { wait: () => held.opened }], [{ say: 'b' }]] })
    const response = await fixture.send('run-1')
    await until(async () => fixture.model.seen.length === 1)
    await response.body?.cancel()
    await until(async () => (await fixture.stores.runs.get('run-1'))?.detachedSince !== undefined)
    held.open()
    await until(async () => (await fixture.stores.runs.get('run-1'))?.status === 'completed')
    expect(await fixture.stores.checkpoints.list('thread-1')).toHaveLength(1)
  })
})

describe('a sandbox that is resumed', () => {
  async function savedOnce(): Promise<{ fixture: RoutesFixture; handle: SandboxHandle }> {
    const fixture = await checkpointed({ turns: [[bash('echo 1 > kept')], [{ say: 'ok' }], [{ say: 'ok' }]] })
    await eventsOf(await fixture.send('run-1'))
    const { instances: store, locks } = fixture.stores
    const handle = await fixture.sandbox.ensureExisting({ threadId: 'thread-1', runId: 'x', store, locks })
    if (handle === null) throw new Error('The sandbox is gone.')
    return { fixture, handle }
  }

  it('is left as it is when it made the latest checkpoint', async () => {
    const { fixture, handle } = await savedOnce()
    await handle.fs.write('/workspace/by-hand', 'later')
    await eventsOf(await fixture.send('run-2', 'again'))
    expect(await handle.fs.read('/workspace/by-hand')).toBe('later')
  })

  it('gets the head when it does not come from it', async () => {
    const { fixture, handle } = await savedOnce()
    await handle.fs.write('/workspace/kept', 'half-restored')
    await handle.fs.write('/workspace/.holdfast/checkpoint.json', '{"checkpoint":null,"parent":null}')
    await eventsOf(await fixture.send('run-2', 'again'))
    expect(await handle.fs.read('/workspace/kept')).toBe('1\n')
  })
})

describe('a restore that fails', () => {
  it('fails the run with the reason, shows no agent the sandbox, and leaves none behind', async () => {
    const fixture = await checkpointed({ turns: [[bash('echo 1 > kept')], [{ say: 'ok' }]] })
    await eventsOf(await fixture.send('run-1'))
    await destroySandboxes(fixture)
    for (const { key } of (await fixture.stores.blobs.list()).objects) await fixture.stores.blobs.delete(key)
    const asked = fixture.model.seen.length
    await eventsOf(await fixture.send('run-2', 'again'))
    expect(await fixture.stores.runs.get('run-2')).toMatchObject({
      status: 'failed',
      error: { code: 'SANDBOX_SNAPSHOT_MISSING_BLOB' },
    })
    expect(fixture.model.seen).toHaveLength(asked)
    expect(await fixture.sandboxIds()).toEqual([])
  })
})

describe('a checkpoint that cannot be stored', () => {
  it('is noted on the run and shown, and the run ends well all the same', async () => {
    const fixture = await checkpointed({
      turns: [[bash('echo too large > file')], [{ say: 'done' }]],
      routes: { checkpoints: { limits: { maxFileBytes: 4 } } },
    })
    await eventsOf(await fixture.send('run-1'))
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'completed' })
    const failure = await findCheckpointFailure(fixture.stores.metadata, 'run-1')
    expect(failure).toMatchObject({ code: 'LIMIT_EXCEEDED', message: expect.stringContaining('file') })
    expect(JSON.stringify(await storedChunks(fixture.stores, 'run-1'))).toContain(CHECKPOINT_FAILED_EVENT)
    expect(await fixture.stores.checkpoints.getHead('thread-1')).toBeNull()
  })

  it('does not keep a sandbox that is to be destroyed', async () => {
    const fixture = await checkpointed({
      turns: [[bash('echo too large > file')], [{ say: 'done' }]],
      routes: { checkpoints: { limits: { maxFileBytes: 4 } } },
      definition: { lifecycle: { destroyOnComplete: true } },
    })
    await eventsOf(await fixture.send('run-1'))
    expect(await fixture.sandboxIds()).toEqual([])
    expect(await findCheckpointFailure(fixture.stores.metadata, 'run-1')).not.toBeNull()
  })
})

describe('the writer', () => {
  it('of somebody else fails the run with WRITER_CONFLICT before a sandbox is made', async () => {
    const fixture = await checkpointed({ turns: [[{ say: 'ok' }]] })
    await fixture.stores.checkpoints.acquireWriter('thread-1')
    await eventsOf(await fixture.send('run-1'))
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({
      status: 'failed',
      error: { code: 'SANDBOX_SNAPSHOT_WRITER_CONFLICT' },
    })
    expect(await fixture.sandboxIds()).toEqual([])
  })

  it('that a dead run left behind passes to the next run', async () => {
    const fixture = await checkpointed({ turns: [[{ say: 'ok' }]] })
    const { checkpoints, metadata } = fixture.stores
    await metadata.set('holdfast.checkpoint-writer', 'thread-1', { runId: 'dead', epoch: 1 })
    const stale = await checkpoints.acquireWriter('thread-1')
    await eventsOf(await fixture.send('run-1'))
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'completed' })
    expect(await checkpoints.list('thread-1')).toHaveLength(1)
    await expect(stale.renew()).rejects.toMatchObject({ code: 'SANDBOX_SNAPSHOT_WRITER_LOST' })
  })
})

describe('when a run is saved', () => {
  it.each([
    ['finish', [], 0],
    ['error', ['error'], 1],
  ] as const)('a run that fails leaves %s', async (_name, on, count) => {
    const fixture = await checkpointed({
      turns: [[bash('echo 1 > kept')], [{ fail: new Error('model') }]],
      routes: { checkpoints: { on } },
    })
    await eventsOf(await fixture.send('run-1'))
    const list = await fixture.stores.checkpoints.list('thread-1')
    expect(list.map(({ reason }) => reason)).toEqual(Array.from({ length: count }, () => 'failed-run'))
  })

  it('a cancelled run leaves none', async () => {
    const fixture = await checkpointed({
      turns: [[bash('sleep 60')]],
      routes: { checkpoints: { on: ['finish', 'error', 'interrupt', 'before-destroy'] } },
    })
    const response = await fixture.send('run-1')
    await until(async () => fixture.model.seen.length === 1)
    await fixture.post('/runs/run-1/cancel')
    await eventsOf(response)
    expect(await fixture.stores.checkpoints.list('thread-1')).toEqual([])
  })

  it('a sandbox that is to be destroyed is saved before', async () => {
    const fixture = await checkpointed({
      turns: [[bash('echo 1 > kept')], [{ say: 'ok' }]],
      routes: { checkpoints: { on: ['before-destroy'] } },
      definition: { lifecycle: { destroyOnComplete: true } },
    })
    await eventsOf(await fixture.send('run-1'))
    expect((await fixture.stores.checkpoints.list('thread-1')).map(({ reason }) => reason)).toEqual(['before-destroy'])
    expect(await fixture.sandboxIds()).toEqual([])
  })

  it('a pause for a person is saved where that is asked for, and lets the writer go', async () => {
    const fixture = await checkpointed({
      turns: [[bash('echo 1 > kept')], [call('bash', { command: 'echo 2 > kept' })]],
      routes: { checkpoints: { on: ['interrupt'] } },
      definition: { policy: { default: 'allow', commands: { ask: ['echo 2 *'] } } },
    })
    await eventsOf(await fixture.send('run-1'))
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'interrupted' })
    const [checkpoint] = await fixture.stores.checkpoints.list('thread-1')
    expect(checkpoint).toMatchObject({ reason: 'automatic', files: [{ path: 'kept', size: 2 }] })
    await fixture.stores.checkpoints.acquireWriter('thread-1')
  })

  it('a long run is saved every so often, when something changed', async () => {
    const held = gate()
    const fixture = await checkpointed({
      turns: [[bash('echo 1 > kept')], [{ say: 'a' }, { wait: () => held.opened }]],
      routes: { checkpoints: { on: [{ everyMs: 1_000 }] } },
    })
    const response = await fixture.send('run-1')
    await until(async () => (await fixture.stores.checkpoints.list('thread-1')).length === 1)
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'running' })
    held.open()
    await eventsOf(response)
    expect(await fixture.stores.checkpoints.list('thread-1')).toHaveLength(1)
  })

  it.each([[['sometimes']], [[{ everyMs: 5 }]]])('%j is refused', async (on) => {
    const fixture = await checkpointed({ turns: [[{ say: 'ok' }]], routes: { checkpoints: { on: on as never } } })
    await eventsOf(await fixture.send('run-1'))
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ error: { code: 'INVALID_CONFIGURATION' } })
  })
})
