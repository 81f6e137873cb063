import { isHoldfastError } from '@holdfast/core'
import type { StreamChunk } from '@tanstack/ai'
import { describe, expect, it } from 'vitest'
import { cancelRun } from '../../../src/runs/cancel-run.ts'
import { DRIVER_LEASE_MS } from '../../../src/runs/heartbeat.ts'
import { listSessions } from '../../../src/runs/session-registry.ts'
import { stopRuns } from '../../../src/runs/stop-runs.ts'
import {
  chatFixture,
  chatRequest,
  eventsOf,
  otherHost,
  startChat,
  storedChunks,
  terminalsOf,
  textOf,
} from '../../fixtures/chat-fixture.ts'
import { gate, settled } from '../../fixtures/gate.ts'

async function* rawStream(chunks: StreamChunk[], end: () => Promise<void> | void): AsyncGenerator<StreamChunk> {
  yield* chunks
  await end()
}

const delta = (text: string): StreamChunk =>
  ({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: text, timestamp: 1 }) as StreamChunk
const finished = {
  type: 'RUN_FINISHED',
  runId: 'run-1',
  threadId: 'thread-1',
  timestamp: 1,
  finishReason: 'stop',
} as StreamChunk

describe('a driven run', () => {
  it('stores its events once, ends with one terminal and completes the record', async () => {
    const fixture = chatFixture()
    const { run, stream } = await startChat(fixture, { turns: [[{ say: 'hel' }, { say: 'lo' }]] })
    const events = await eventsOf(run.respond(stream))
    const stored = await storedChunks(fixture.stores, 'run-1')
    expect(events.map((event) => event.chunk.type)).toEqual(stored.map((chunk) => chunk.type))
    expect(new Set(events.map((event) => event.id)).size).toBe(events.length)
    expect(textOf(stored)).toBe('hello')
    expect(terminalsOf(stored)).toEqual(['RUN_FINISHED'])
    expect(stored[0]).toMatchObject({ type: 'CUSTOM', name: 'run.accepted' })
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'completed' })
    expect(listSessions(fixture.stores)).toEqual([])
  })

  it('admits the next send as soon as a viewer has seen the end', async () => {
    const fixture = chatFixture()
    for (let index = 1; index <= 5; index += 1) {
      const request = chatRequest(`run-${index}`, `message ${index}`)
      const { run, stream } = await startChat(fixture, { turns: [[{ say: 'ok' }]], request })
      await eventsOf(run.respond(stream))
    }
    expect(await fixture.stores.messages.loadThread('thread-1')).toHaveLength(10)
  })

  it('goes on when its viewer leaves after the third event', async () => {
    const fixture = chatFixture()
    const held = gate()
    const turns = [[{ say: 'a' }, { wait: () => held.opened }, { say: 'b' }]]
    const { run, stream } = await startChat(fixture, { turns })
    const reader = run.respond(stream).body!.getReader()
    for (let index = 0; index < 3; index += 1) await reader.read()
    await reader.cancel()
    await settled()
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({
      status: 'running',
      detachedSince: expect.any(Number),
    })
    expect(await fixture.stores.eventLog.find('run-1')).toMatchObject({ isClosed: false })
    expect(terminalsOf(await storedChunks(fixture.stores, 'run-1'))).toEqual([])
    held.open()
    await run.session.ended
    expect(textOf(await storedChunks(fixture.stores, 'run-1'))).toBe('ab')
    expect(terminalsOf(await storedChunks(fixture.stores, 'run-1'))).toEqual(['RUN_FINISHED'])
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'completed' })
  })

  it('ends as aborted when its viewer leaves and it must not outlive one', async () => {
    const fixture = chatFixture()
    const turns = [[{ say: 'a' }, { wait: untilAborted }]]
    const { run, stream } = await startChat(fixture, { turns, detachOnDisconnect: false })
    const reader = run.respond(stream).body!.getReader()
    await reader.read()
    await reader.cancel()
    await run.session.ended
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'aborted' })
    expect(terminalsOf(await storedChunks(fixture.stores, 'run-1'))).toEqual(['RUN_ERROR'])
  })

  it('fails with the model’s error, once', async () => {
    const fixture = chatFixture()
    const { run, stream } = await startChat(fixture, { turns: [[{ say: 'a' }, { fail: new Error('out of tokens') }]] })
    await run.drive(stream)
    expect(terminalsOf(await storedChunks(fixture.stores, 'run-1'))).toEqual(['RUN_ERROR'])
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({
      status: 'failed',
      error: { message: 'out of tokens' },
    })
  })

  it('is never recorded as completed when its stream ends without a result', async () => {
    const fixture = chatFixture()
    const { run } = await startChat(fixture, { turns: [] })
    await run.drive(rawStream([delta('a')], () => undefined))
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'failed' })
  })
})

describe('a cancelled run', () => {
  const endings: [string, (signal: AbortSignal) => Promise<void>][] = [
    ['ends quietly', () => Promise.resolve()],
    ['throws an abort error', (signal) => Promise.reject(signal.reason as Error)],
    ['never notices', () => new Promise(() => undefined)],
  ]
  for (const [title, ending] of endings) {
    it(`is aborted, with one terminal and a closed log, when its producer ${title}`, async () => {
      const fixture = chatFixture()
      const { run } = await startChat(fixture, { turns: [] })
      const { signal } = run.session.controller
      const stream = rawStream([delta('a'), delta('b')], async () => {
        await untilAborted(signal)
        await ending(signal)
      })
      const driving = run.drive(stream)
      await settled()
      await cancelRun({ stores: fixture.stores, runId: 'run-1', clock: fixture.clock })
      await fixture.clock.advance(2_000)
      await driving
      const chunks = await storedChunks(fixture.stores, 'run-1')
      expect(textOf(chunks)).toBe('ab')
      expect(terminalsOf(chunks)).toEqual(['RUN_ERROR'])
      expect(await fixture.stores.eventLog.find('run-1')).toMatchObject({ isClosed: true })
      expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'aborted' })
    })
  }

  it('is aborted and not completed when the cancel comes with the finish', async () => {
    const fixture = chatFixture()
    const { run } = await startChat(fixture, { turns: [] })
    await run.drive(rawStream([delta('a'), finished], () => run.session.stop('cancel')))
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'aborted' })
    expect(terminalsOf(await storedChunks(fixture.stores, 'run-1'))).toEqual(['RUN_ERROR'])
  })

  it('stops on the host that drives it when another host is asked', async () => {
    const fixture = chatFixture()
    const { run, stream } = await startChat(fixture, { turns: [[{ say: 'a' }, { wait: untilAborted }]] })
    const driving = run.drive(stream)
    await settled()
    const elsewhere = otherHost(fixture)
    await cancelRun({ stores: elsewhere.stores, runId: 'run-1', clock: fixture.clock })
    await fixture.clock.advance(2_000)
    await driving
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'aborted' })
  })

  it('is finished by the host that is asked when its own host is dead', async () => {
    const fixture = chatFixture()
    const dead = otherHost(fixture)
    await startChat(dead, { turns: [] })
    for (const session of listSessions(dead.stores)) session.stop('lost')
    const { heartbeatOf } = await import('../../../src/runs/heartbeat.ts')
    for (const session of listSessions(dead.stores)) heartbeatOf(fixture.clock).remove(session)
    await fixture.clock.advance(DRIVER_LEASE_MS + 1)
    await cancelRun({ stores: fixture.stores, runId: 'run-1', clock: fixture.clock })
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'aborted' })
    expect(await fixture.stores.eventLog.find('run-1')).toMatchObject({ isClosed: true })
  })

  it('does nothing for an unknown and for an ended run', async () => {
    const fixture = chatFixture()
    await cancelRun({ stores: fixture.stores, runId: 'nobody', clock: fixture.clock })
    const { run, stream } = await startChat(fixture, { turns: [[{ say: 'a' }]] })
    await run.drive(stream)
    await cancelRun({ stores: fixture.stores, runId: 'run-1', clock: fixture.clock })
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'completed' })
    expect(await fixture.stores.runs.get('nobody')).toBeNull()
  })
})

describe('a superseded driver', () => {
  it('writes nothing more: no event, no terminal, no transcript, no record', async () => {
    const fixture = chatFixture()
    const zombie = otherHost(fixture)
    const held = gate()
    const { run, stream } = await startChat(zombie, {
      turns: [[{ say: 'a' }, { wait: () => held.opened }, { say: 'b' }]],
    })
    const driving = run.drive(stream)
    await settled()
    const { heartbeatOf } = await import('../../../src/runs/heartbeat.ts')
    heartbeatOf(fixture.clock).remove(run.session)
    await fixture.clock.advance(DRIVER_LEASE_MS + 1)
    const successor = await fixture.stores.drivers.claim({
      runId: 'run-1',
      threadId: 'thread-1',
      owner: 'b',
      ttlMs: 1_000,
    })
    const before = await storedChunks(fixture.stores, 'run-1')
    const transcript = await fixture.stores.messages.loadThread('thread-1')
    held.open()
    await driving
    expect(await storedChunks(fixture.stores, 'run-1')).toEqual(before)
    expect(await fixture.stores.messages.loadThread('thread-1')).toEqual(transcript)
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'running', driverEpoch: successor.epoch })
  })

  it('stops by itself when its lease cannot have been renewed', async () => {
    const fixture = chatFixture()
    const { run, stream } = await startChat(fixture, { turns: [[{ wait: untilAborted }]] })
    const driving = run.drive(stream)
    await settled()
    await fixture.stores.drivers.finish({ runId: 'run-1', epoch: run.session.epoch ?? 0, status: 'failed' })
    await fixture.clock.advance(DRIVER_LEASE_MS)
    await driving
    expect(run.session.stopReason).toBe('lost')
  })
})

describe('stopRuns', () => {
  it('lets go of a run without ending it', async () => {
    const fixture = chatFixture()
    const { run, stream } = await startChat(fixture, { turns: [[{ say: 'a' }, { wait: untilAborted }]] })
    const driving = run.drive(stream)
    await settled()
    expect(await stopRuns(fixture.stores)).toBe(0)
    await driving
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({
      status: 'running',
      detachedSince: expect.any(Number),
    })
    expect(await fixture.stores.eventLog.find('run-1')).toMatchObject({ isClosed: false })
    expect(terminalsOf(await storedChunks(fixture.stores, 'run-1'))).toEqual([])
    const next = { runId: 'run-1', threadId: 'thread-1', owner: 'next', ttlMs: 1_000 }
    expect(await fixture.stores.drivers.claim(next)).toMatchObject({ epoch: 2 })
  })
})

/** What a producer does that obeys its signal. */
function untilAborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal === undefined || signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

describe('an append that fails', () => {
  it('fails the run and leaves no hole behind a completed record', async () => {
    const fixture = chatFixture()
    const { eventLog } = fixture.stores
    let appends = 0
    const stores = {
      ...fixture.stores,
      eventLog: {
        ...bound(eventLog),
        open: (input: Parameters<typeof eventLog.open>[0]) => {
          const log = eventLog.open(input)
          return {
            ...bound(log),
            append: (chunks: StreamChunk[]) => {
              appends += 1
              return appends === 2 ? Promise.reject(new Error('disk full')) : log.append(chunks)
            },
          }
        },
      },
    } as typeof fixture.stores
    const { run, stream } = await startChat({ ...fixture, stores }, { turns: [[{ say: 'a' }]] })
    await run.drive(stream)
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'failed' })
    expect(isHoldfastError(new Error('x'))).toBe(false)
  })
})

/** The object's methods, own and inherited, bound to it. */
function bound<T extends object>(target: T): T {
  const names = new Set<string>()
  for (
    let level: object | null = target;
    level !== null && level !== Object.prototype;
    level = Object.getPrototypeOf(level) as object | null
  ) {
    for (const name of Object.getOwnPropertyNames(level)) names.add(name)
  }
  const entries = [...names].map((name): [string, unknown] => {
    const value: unknown = Reflect.get(target, name)
    return [name, typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value]
  })
  return Object.fromEntries(entries) as T
}
