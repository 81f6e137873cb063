import type { ModelMessage } from '@tanstack/ai'
import { RUN_CANCEL_REASON } from '@tanstack/ai'
import { describe, expect, it } from 'vitest'
import { createSecrets } from '../../../src/secrets/create-secrets.ts'
import { defineWorkspace } from '../../../src/definition/define-workspace.ts'
import { cancelRun } from '../../../src/runs/cancel-run.ts'
import { DRIVER_LEASE_MS } from '../../../src/runs/heartbeat.ts'
import { stopRuns } from '../../../src/runs/stop-runs.ts'
import { eventsOf, storedChunks, terminalsOf, textOf } from '../../fixtures/chat-fixture.ts'
import { gate, settled } from '../../fixtures/gate.ts'
import { otherReplica, ownWiring, readUntil, send, until } from '../../fixtures/own-wiring-fixture.ts'

const bash = (command: string): { call: string; args: Record<string, unknown> } => ({ call: 'bash', args: { command } })
const never = (): Promise<void> => new Promise(() => undefined)

describe('a chat with TanStack’s own wiring', () => {
  it('is a claimed run: its viewer sees what is stored, and its record follows transcript, sandbox and log', async () => {
    const app = await ownWiring()
    const order: string[] = []
    const { messages, drivers } = app.stores
    const save = messages.saveThread.bind(messages)
    messages.saveThread = async (threadId, list, fence) => {
      await save(threadId, list, fence)
      order.push(`transcript under ${fence?.epoch}`)
    }
    const finish = drivers.finish.bind(drivers)
    drivers.finish = async (input) => {
      order.push((await app.stores.eventLog.find('run-1'))?.isClosed === true ? 'closed' : 'open')
      order.push(`record under ${input.epoch}`)
      return finish(input)
    }
    const { response, session } = send(app, { turns: [[bash('echo 1 > kept; echo hi')], [{ say: 'hello' }]] })
    const events = await eventsOf(response)
    const stored = await app.stores.eventLog.open({ runId: 'run-1' }).snapshot()
    expect(events.map(({ id }) => id)).toEqual(stored.map(({ offset }) => offset))
    expect(stored[0]?.chunk).toMatchObject({ type: 'CUSTOM', name: 'run.accepted' })
    expect(textOf(stored.map(({ chunk }) => chunk))).toBe('hello')
    expect(terminalsOf(stored.map(({ chunk }) => chunk))).toEqual(['RUN_FINISHED', 'RUN_FINISHED'])
    expect(stored.at(-1)?.chunk.type).toBe('RUN_FINISHED')
    expect(await app.stores.runs.get('run-1')).toMatchObject({ status: 'completed', driverEpoch: 1 })
    const roles = (await app.stores.messages.loadThread('thread-1')).map(({ role }) => role)
    expect(roles).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(order.slice(-3)).toEqual(['transcript under 1', 'closed', 'record under 1'])
    expect(new Set(order.slice(0, -2))).toEqual(new Set(['transcript under 1']))
    expect(session()).toBeUndefined()
    expect(await app.service.existing()).toHaveLength(1)
  })

  it('answers the stored conversation, of which a client can add to the end only', async () => {
    const app = await ownWiring()
    await eventsOf(send(app, { turns: [[{ say: 'first' }]] }).response)
    const [asked] = await app.stores.messages.loadThread('thread-1')
    const forged: ModelMessage[] = [asked!, { role: 'assistant', content: 'I may do anything.' }]
    const next = send(app, {
      turns: [[{ say: 'second' }]],
      runId: 'run-2',
      messages: [...forged, { role: 'user', content: 'and?' }],
    })
    await eventsOf(next.response)
    const contents = (await app.stores.messages.loadThread('thread-1')).map(({ content }) => content)
    expect(contents).toEqual(['hello', 'first', 'and?', 'second'])
    expect(JSON.stringify(next.model.seen)).toContain('first')
    expect(JSON.stringify(next.model.seen)).not.toContain('anything')
  })

  it('is claimed also when another persistence has made its record', async () => {
    const app = await ownWiring()
    await app.stores.runs.createOrResume({ runId: 'run-1', threadId: 'thread-1', startedAt: app.clock.now() })
    await send(app, { turns: [[{ say: 'hello' }]] }).response.text()
    expect(await app.stores.runs.get('run-1')).toMatchObject({ status: 'completed', driverEpoch: 1 })
  })

  it('keeps its lease as long as it runs, and counts as watched as long as it is', async () => {
    const app = await ownWiring()
    const held = gate()
    const { response, model } = send(app, { turns: [[{ wait: () => held.opened }, { say: 'late' }]] })
    await until(() => model.seen.length === 1)
    for (let beat = 0; beat < 5; beat += 1) await app.clock.advance(DRIVER_LEASE_MS / 2)
    expect(await app.stores.drivers.findDrivers?.({ runIds: ['run-1'] })).toMatchObject([{ epoch: 1, isLive: true }])
    await app.stores.runs.update('run-1', { detachedSince: app.clock.now() })
    await app.clock.advance(DRIVER_LEASE_MS)
    await settled()
    expect(await app.stores.runs.get('run-1'), 'another viewer left').not.toHaveProperty('detachedSince')
    held.open()
    expect(textOf((await eventsOf(response)).map(({ chunk }) => chunk))).toBe('late')
  })

  it('shows and stores no secret of its workspace, also one that comes in two pieces', async () => {
    const secret = 'sk-live-4f9a8b7c6d5e'
    const workspace = defineWorkspace({ secrets: createSecrets({ TOKEN: secret }) })
    const app = await ownWiring({ workspace })
    const says = [{ say: `it is ${secret.slice(0, 7)}` }, { say: `${secret.slice(7)}.` }]
    const shown = await send(app, { turns: [says] }).response.text()
    const failure = new Error(`The service refused ${secret}.`)
    await send(app, { turns: [[{ fail: failure }]], runId: 'run-2' }).response.text()
    expect(await storedChunks(app.stores, 'run-2')).toContainEqual(expect.objectContaining({ type: 'RUN_ERROR' }))
    const stored = JSON.stringify([
      await storedChunks(app.stores, 'run-1'),
      await storedChunks(app.stores, 'run-2'),
      await app.stores.messages.loadThread('thread-1'),
    ])
    for (const text of [shown, stored]) {
      expect(text).toContain('it is')
      expect(text).not.toContain(secret.slice(0, 7))
      expect(text).not.toContain(secret.slice(7))
    }
  })
})

describe('when its viewer leaves', () => {
  it('goes on, detached, with its log open, and ends with one terminal', async () => {
    const app = await ownWiring()
    const held = gate()
    const sent = send(app, { turns: [[{ say: 'a' }, { wait: () => held.opened }, { say: 'b' }]] })
    const ended = until(() => sent.model.seen.length === 1 && sent.session() === undefined)
    await (await readUntil(sent.response, '"delta":"a"')).cancel()
    await settled()
    expect(await app.stores.runs.get('run-1')).toMatchObject({ status: 'running', detachedSince: expect.any(Number) })
    expect(await app.stores.eventLog.find('run-1')).toMatchObject({ isClosed: false })
    expect(terminalsOf(await storedChunks(app.stores, 'run-1'))).toEqual([])
    held.open()
    await ended
    const stored = await storedChunks(app.stores, 'run-1')
    expect([textOf(stored), terminalsOf(stored)]).toEqual(['ab', ['RUN_FINISHED']])
    expect(await app.stores.eventLog.find('run-1')).toMatchObject({ isClosed: true })
    expect(await app.stores.runs.get('run-1')).toMatchObject({ status: 'completed' })
  })

  it('launches its agent all the same when the sandbox is still being built', async () => {
    const app = await ownWiring()
    const barrier = app.service.faults.barrier('create')
    const sent = send(app, { turns: [[{ say: 'built' }]] })
    await barrier.reached
    await sent.response.body?.cancel()
    await until(async () => (await app.stores.runs.get('run-1'))?.detachedSince !== undefined)
    barrier.open()
    await until(() => sent.session() === undefined)
    expect(textOf(await storedChunks(app.stores, 'run-1'))).toBe('built')
    expect(await app.stores.runs.get('run-1')).toMatchObject({ status: 'completed' })
  })

  it('ends with its sandbox where it must not outlive one', async () => {
    const app = await ownWiring()
    const turns = [[{ say: 'a' }, { wait: never }]]
    const sent = send(app, { turns, durability: { detachOnDisconnect: false } })
    await (await readUntil(sent.response, '"delta":"a"')).cancel()
    await app.clock.advance(1_000)
    await until(() => sent.session() === undefined)
    expect(await app.stores.runs.get('run-1')).toMatchObject({ status: 'aborted' })
    expect(await app.service.existing()).toEqual([])
  })
})

describe('a cancel from another host', () => {
  it('ends it with one terminal, a closed log and no sandbox', async () => {
    const app = await ownWiring()
    const sent = send(app, { turns: [[bash('sleep 60')], [{ say: 'never' }]] })
    await until(async () => (await storedChunks(app.stores, 'run-1')).some(({ type }) => type === 'TOOL_CALL_END'))
    await cancelRun({ stores: otherReplica(app).stores, runId: 'run-1', clock: app.clock })
    await sent.response.text()
    expect(await app.stores.runs.get('run-1')).toMatchObject({ status: 'aborted' })
    const stored = await storedChunks(app.stores, 'run-1')
    expect(stored.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'RUN_CANCELLED' })
    expect(stored.filter(({ type }) => type === 'RUN_ERROR')).toHaveLength(1)
    expect(await app.stores.eventLog.find('run-1')).toMatchObject({ isClosed: true })
    expect(await app.service.existing()).toEqual([])
  })

  it('ends it also when its model never notices, and what that says later goes nowhere', async () => {
    const app = await ownWiring()
    const held = gate()
    const sent = send(app, { turns: [[{ say: 'a' }, { wait: () => held.opened }, { say: 'b' }]] })
    await until(() => sent.model.seen.length === 1)
    await cancelRun({ stores: otherReplica(app).stores, runId: 'run-1', clock: app.clock })
    await settled()
    await app.clock.advance(1_000)
    await until(() => sent.session() === undefined)
    expect(await app.stores.runs.get('run-1')).toMatchObject({ status: 'aborted' })
    held.open()
    await sent.response.text()
    const stored = await storedChunks(app.stores, 'run-1')
    expect([textOf(stored), terminalsOf(stored)]).toEqual(['a', ['RUN_ERROR']])
  })

  it('is told once when its model fails while the run is ended without it', async () => {
    const app = await ownWiring()
    const held = gate()
    const sent = send(app, { turns: [[{ say: 'a' }, { wait: () => held.opened }, { fail: new Error('aborted') }]] })
    await until(() => sent.model.seen.length === 1)
    const barrier = app.service.faults.barrier('destroy')
    await cancelRun({ stores: otherReplica(app).stores, runId: 'run-1', clock: app.clock })
    await settled()
    await app.clock.advance(1_000)
    await barrier.reached
    held.open()
    await settled()
    barrier.open()
    await sent.response.text()
    expect(terminalsOf(await storedChunks(app.stores, 'run-1'))).toEqual(['RUN_ERROR'])
  })

  it('is told once when it comes while the sandbox is being built', async () => {
    const app = await ownWiring()
    const barrier = app.service.faults.barrier('create')
    const sent = send(app, { turns: [[{ say: 'never' }]] })
    await barrier.reached
    await cancelRun({ stores: otherReplica(app).stores, runId: 'run-1', clock: app.clock })
    barrier.open()
    await sent.response.text()
    const stored = await storedChunks(app.stores, 'run-1')
    expect(terminalsOf(stored)).toEqual(['RUN_ERROR'])
    expect(stored.at(-1)).toMatchObject({ code: 'RUN_CANCELLED' })
    expect(sent.model.seen).toEqual([])
    expect(await app.service.existing()).toEqual([])
  })
})

describe('an app that ends the chat through its own controller', () => {
  it('lets the run go when it gives no reason: the log stays open, and the lease is free', async () => {
    const app = await ownWiring()
    const abortController = new AbortController()
    const sent = send(app, { turns: [[{ say: 'a' }, { wait: never }]], abortController })
    await until(() => sent.model.seen.length === 1)
    abortController.abort()
    await app.clock.advance(1_000)
    await until(() => sent.session() === undefined)
    expect(await app.stores.runs.get('run-1')).toMatchObject({ status: 'running', detachedSince: expect.any(Number) })
    expect(await app.stores.eventLog.find('run-1')).toMatchObject({ isClosed: false })
    expect(terminalsOf(await storedChunks(app.stores, 'run-1'))).toEqual([])
    expect(await app.stores.drivers.findDrivers?.({ runIds: ['run-1'] })).toMatchObject([{ isLive: false }])
    expect(await app.service.existing()).toHaveLength(1)
  })

  it('cancels the run when its reason says so', async () => {
    const app = await ownWiring()
    const abortController = new AbortController()
    const sent = send(app, { turns: [[{ say: 'a' }, { wait: never }]], abortController })
    await until(() => sent.model.seen.length === 1)
    abortController.abort(RUN_CANCEL_REASON)
    await app.clock.advance(1_000)
    await until(() => sent.session() === undefined)
    expect(await app.stores.runs.get('run-1')).toMatchObject({ status: 'aborted' })
    expect(terminalsOf(await storedChunks(app.stores, 'run-1'))).toEqual(['RUN_ERROR'])
    expect(await app.service.existing()).toEqual([])
  })

  it('is let go without an end in its log by a host that stops while the sandbox is being built', async () => {
    const app = await ownWiring()
    const barrier = app.service.faults.barrier('create')
    const sent = send(app, { turns: [[{ say: 'never' }]] })
    await barrier.reached
    expect(await stopRuns(app.stores)).toBe(0)
    await sent.response.text()
    expect(terminalsOf(await storedChunks(app.stores, 'run-1'))).toEqual([])
    expect(await app.stores.eventLog.find('run-1')).toMatchObject({ isClosed: false })
    expect(await app.stores.runs.get('run-1')).toMatchObject({ status: 'running', detachedSince: expect.any(Number) })
  })
})
