import { chat, streamToText } from '@tanstack/ai'
import { describe, expect, it } from 'vitest'
import { SANDBOX_STATUS_EVENT } from '../../../src/session/sandbox-status.ts'
import { withSandbox } from '../../../src/session/with-sandbox.ts'
import { sandboxTools } from '../../../src/tools/sandbox-tools.ts'
import { eventsOf, storedChunks, terminalsOf, textOf } from '../../fixtures/chat-fixture.ts'
import { gate, settled } from '../../fixtures/gate.ts'
import { routesFixture } from '../../fixtures/routes-fixture.ts'
import type { RoutesFixture } from '../../fixtures/routes-fixture.ts'
import { scriptedModel } from '../../fixtures/scripted-model.ts'

const bash = (command: string): { call: string; args: Record<string, unknown> } => ({ call: 'bash', args: { command } })

async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await settled(5)
}

/** Starts a send whose sandbox is held in `create`. */
async function heldInCreate(fixture: RoutesFixture): Promise<{ response: Response; open: () => void }> {
  const barrier = fixture.faults.barrier('create')
  const response = await fixture.send('run-1')
  await barrier.reached
  return { response, open: () => barrier.open() }
}

describe('while the sandbox is being built', () => {
  it('a viewer who leaves changes nothing: the agent is launched, and a rejoin sees it all', async () => {
    const fixture = await routesFixture({ turns: [[{ say: 'hello' }]] })
    const { response, open } = await heldInCreate(fixture)
    await response.body?.cancel()
    await until(async () => (await fixture.stores.runs.get('run-1'))?.detachedSince !== undefined)
    expect(fixture.model.seen).toHaveLength(0)
    const joined = await fixture.get('/chat?runId=run-1&offset=-1')
    open()
    const chunks = (await eventsOf(joined)).map((event) => event.chunk)
    expect(textOf(chunks)).toBe('hello')
    expect(chunks[0]).toMatchObject({ type: 'CUSTOM', name: 'run.accepted' })
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'completed' })
  })

  it('viewers are told what is happening', async () => {
    const fixture = await routesFixture({ turns: [[{ say: 'hello' }]] })
    await eventsOf(await fixture.send('run-1'))
    const statuses = (await storedChunks(fixture.stores, 'run-1')).filter(
      (chunk) => chunk.type === 'CUSTOM' && chunk.name === SANDBOX_STATUS_EVENT,
    )
    expect(JSON.stringify(statuses)).toContain('creating')
  })

  it('a cancel launches no agent, leaves no sandbox, and aborts the run', async () => {
    const fixture = await routesFixture({ turns: [[{ say: 'hello' }]] })
    const { response, open } = await heldInCreate(fixture)
    await fixture.post('/runs/run-1/cancel')
    open()
    await eventsOf(response)
    await until(async () => (await fixture.sandboxIds()).length === 0)
    expect(fixture.model.seen).toHaveLength(0)
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'aborted' })
    expect(terminalsOf(await storedChunks(fixture.stores, 'run-1'))).toEqual(['RUN_ERROR'])
    expect(await fixture.stores.instances.list?.({})).toMatchObject({ records: [] })
  })
})

describe('a sandbox that cannot be had', () => {
  it('fails the run with a code, leaves nothing behind, and the next message works', async () => {
    const fixture = await routesFixture({ turns: [[{ say: 'hello' }]] })
    fixture.faults.add({ on: 'create', nth: 1, do: 'fail' })
    await eventsOf(await fixture.send('run-1'))
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({
      status: 'failed',
      error: { code: expect.any(String) },
    })
    expect(await fixture.sandboxIds()).toEqual([])
    const chunks = (await eventsOf(await fixture.send('run-2', 'again'))).map((event) => event.chunk)
    expect(textOf(chunks)).toBe('hello')
  })
})

describe('the end of a run', () => {
  it('keeps the thread’s sandbox for the next run', async () => {
    const turns = [[bash('echo 1 > kept')], [{ say: 'ok' }], [bash('cat kept')], [{ say: 'ok' }]]
    const fixture = await routesFixture({ turns })
    await eventsOf(await fixture.send('run-1'))
    const [first] = await fixture.sandboxIds()
    await eventsOf(await fixture.send('run-2', 'again'))
    expect(await fixture.sandboxIds()).toEqual([first])
    const results = (await fixture.stores.messages.loadThread('thread-1')).filter((message) => message.role === 'tool')
    expect(results[1]?.content).toContain('"stdout":"1\\n"')
  })

  it('destroys the sandbox under a signal of its own when the run’s has aborted', async () => {
    const fixture = await routesFixture({ turns: [[bash('sleep 60')]] })
    const { provider } = fixture.sandbox
    const signals: boolean[] = []
    const destroy = provider.destroy.bind(provider)
    provider.destroy = (input) => {
      signals.push(input.signal?.aborted ?? false)
      return destroy(input)
    }
    const response = await fixture.send('run-1')
    await until(async () => (await fixture.sandboxIds()).length === 1)
    await until(() => fixture.model.seen.length === 1)
    await fixture.post('/runs/run-1/cancel')
    await eventsOf(response)
    expect(signals).toEqual([false])
    expect(await fixture.sandboxIds()).toEqual([])
  })

  it('keeps the row of a sandbox that could not be destroyed, so that a later try finds it', async () => {
    const fixture = await routesFixture({ turns: [[bash('sleep 60')]] })
    fixture.faults.add({ on: 'destroy', times: 1, do: 'fail' })
    const response = await fixture.send('run-1')
    await until(() => fixture.model.seen.length === 1)
    await fixture.post('/runs/run-1/cancel')
    await eventsOf(response)
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'aborted' })
    expect(await fixture.stores.instances.list?.({})).toMatchObject({ records: [{ state: 'condemned' }] })
    expect((await fixture.remove('/threads/thread-1')).status).toBe(204)
    expect(await fixture.sandboxIds()).toEqual([])
  })

  it('leaves the sandbox to its successor when it fails before it knows that it was superseded', async () => {
    const held = gate()
    const fixture = await routesFixture({
      turns: [[{ say: 'a' }, { wait: () => held.opened }, { fail: new Error('broken') }]],
      definition: { lifecycle: { destroyOnComplete: true } },
    })
    const response = await fixture.send('run-1')
    await until(() => fixture.model.seen.length === 1)
    const { drivers } = fixture.stores
    await drivers.release({ runId: 'run-1', epoch: 1 })
    const successor = await drivers.claim({ runId: 'run-1', threadId: 'thread-1', owner: 'next', ttlMs: 60_000 })
    held.open()
    const { findSession } = await import('../../../src/runs/session-registry.ts')
    await until(() => findSession(fixture.stores, 'run-1') === undefined)
    expect(await fixture.sandboxIds()).toHaveLength(1)
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'running', driverEpoch: successor.epoch })
    await response.body?.cancel()
  })

  it('leaves sandbox and record alone when another host has taken over', async () => {
    const held = gate()
    const fixture = await routesFixture({ turns: [[{ say: 'a' }, { wait: () => held.opened }, { say: 'b' }]] })
    const response = await fixture.send('run-1')
    await until(() => fixture.model.seen.length === 1)
    const record = await fixture.stores.runs.get('run-1')
    const { findSession } = await import('../../../src/runs/session-registry.ts')
    findSession(fixture.stores, 'run-1')?.stop('lost')
    held.open()
    await until(() => findSession(fixture.stores, 'run-1') === undefined)
    expect(await fixture.sandboxIds()).toHaveLength(1)
    expect(await fixture.stores.runs.get('run-1')).toEqual(record)
    await response.body?.cancel()
  })
})

describe('withSandbox without beginRun', () => {
  it('gives the run a sandbox and keeps it after a good end', async () => {
    const fixture = await routesFixture({ turns: [] })
    const model = scriptedModel([[bash('echo hi')], [{ say: 'done' }]])
    const text = await streamToText(
      chat({
        adapter: model.adapter,
        threadId: 'thread-9',
        runId: 'run-9',
        messages: [{ role: 'user', content: 'go' }],
        tools: sandboxTools(),
        middleware: [withSandbox(fixture.sandbox, { stores: fixture.stores })],
      } as unknown as Parameters<typeof chat>[0]) as Parameters<typeof streamToText>[0],
    )
    expect(text).toBe('done')
    expect(JSON.stringify(model.seen[1])).toContain('hi')
    expect(await fixture.sandboxIds()).toHaveLength(1)
  })

  it('destroys the sandbox when the run is aborted', async () => {
    const fixture = await routesFixture({ turns: [] })
    const model = scriptedModel([[bash('sleep 60')]])
    const abortController = new AbortController()
    const stream = chat({
      adapter: model.adapter,
      threadId: 'thread-9',
      runId: 'run-9',
      abortController,
      messages: [{ role: 'user', content: 'go' }],
      tools: sandboxTools(),
      middleware: [withSandbox(fixture.sandbox, { stores: fixture.stores })],
    } as unknown as Parameters<typeof chat>[0]) as AsyncIterable<unknown>
    const drained = (async () => {
      for await (const _chunk of stream) if (model.seen.length === 1) abortController.abort()
    })()
    await drained.catch(() => undefined)
    expect(await fixture.sandboxIds()).toEqual([])
  })
})
