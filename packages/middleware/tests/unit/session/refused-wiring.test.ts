import { createMemoryStores, isHoldfastError } from '@holdfast/core'
import type { HoldfastStores } from '@holdfast/core'
import { chat, memoryStream, resumeServerSentEventsResponse, toServerSentEventsResponse } from '@tanstack/ai'
import type { StreamChunk } from '@tanstack/ai'
import { describe, expect, it, onTestFinished } from 'vitest'
import { withPersistence } from '../../../src/persistence/with-persistence.ts'
import { beginRun } from '../../../src/runs/begin-run.ts'
import { durableLog } from '../../../src/runs/durable-log.ts'
import { DRIVER_LEASE_MS, heartbeatOf } from '../../../src/runs/heartbeat.ts'
import { takeOverRun } from '../../../src/runs/take-over-run.ts'
import { withSandbox } from '../../../src/session/with-sandbox.ts'
import type { WithSandboxOptions } from '../../../src/session/with-sandbox-options.ts'
import {
  chatRequest,
  eventsOf,
  otherHost,
  storedChunks,
  streamFor,
  terminalsOf,
  textOf,
} from '../../fixtures/chat-fixture.ts'
import { gate, settled } from '../../fixtures/gate.ts'
import { otherReplica, ownWiring, send, until } from '../../fixtures/own-wiring-fixture.ts'
import type { OwnWiring, Sent } from '../../fixtures/own-wiring-fixture.ts'
import { scriptedModel } from '../../fixtures/scripted-model.ts'

const request = (headers: Record<string, string> = { 'X-Run-Id': 'run-1' }): Request =>
  new Request('http://localhost/api/chat', { method: 'POST', headers })

/** The only event that a refused send's viewer gets beside `run.accepted`. */
async function refusalOf(sent: Sent): Promise<StreamChunk | undefined> {
  const chunks = (await eventsOf(sent.response)).map(({ chunk }) => chunk)
  expect(terminalsOf(chunks)).toEqual(['RUN_ERROR'])
  return chunks.at(-1)
}

/** A run in the middle of its answer. */
async function busy(app: OwnWiring): Promise<{ sent: Sent; open: () => void }> {
  const held = gate()
  const sent = send(app, { turns: [[{ say: 'a' }, { wait: () => held.opened }, { say: 'b' }]] })
  await until(() => sent.model.seen.length === 1)
  await settled()
  return { sent, open: held.open }
}

describe('a second send', () => {
  it('on a busy thread is refused, leaves nothing behind, and can be sent again', async () => {
    const app = await ownWiring({ lifecycle: { destroyOnComplete: true } })
    const { sent, open } = await busy(app)
    const before = await app.stores.messages.loadThread('thread-1')
    for (const host of [app, otherReplica(app)]) {
      const second = send(host, { turns: [[{ say: 'no' }]], runId: 'run-2' })
      expect(await refusalOf(second)).toMatchObject({ code: 'THREAD_BUSY' })
      expect(second.model.seen).toEqual([])
      expect(await app.stores.runs.get('run-2')).toBeNull()
      expect(await app.stores.eventLog.find('run-2')).toBeNull()
      expect(await app.stores.messages.loadThread('thread-1')).toEqual(before)
    }
    expect(await app.service.existing(), 'the sandbox is that of the run').toHaveLength(1)
    open()
    expect(textOf((await eventsOf(sent.response)).map(({ chunk }) => chunk))).toBe('ab')
    const again = await eventsOf(send(app, { turns: [[{ say: 'now' }]], runId: 'run-2' }).response)
    expect(textOf(again.map(({ chunk }) => chunk))).toBe('now')
  })

  it('of the same run is refused, and neither ends nor changes the run that is there', async () => {
    const app = await ownWiring()
    const { sent, open } = await busy(app)
    const stored = await storedChunks(app.stores, 'run-1')
    for (const host of [app, otherReplica(app)]) {
      expect(await refusalOf(send(host, { turns: [[{ say: 'no' }]] }))).toMatchObject({ code: 'LOG_FENCED' })
    }
    expect(await storedChunks(app.stores, 'run-1')).toEqual(stored)
    expect(await app.stores.runs.get('run-1')).toMatchObject({ status: 'running', driverEpoch: 1 })
    open()
    await sent.response.text()
    expect(textOf(await storedChunks(app.stores, 'run-1'))).toBe('ab')
    expect(await app.stores.messages.loadThread('thread-1')).toHaveLength(2)
  })

  it('of the same run in the same moment is refused by the claim, and stores nothing', async () => {
    const app = await ownWiring()
    const [one, other] = [0, 1].map(() => send(app, { turns: [[{ say: 'once' }]] }))
    const endings = await Promise.all([one!, other!].map(async ({ response }) => response.text()))
    expect(endings.filter((text) => text.includes('DRIVER_HELD'))).toHaveLength(1)
    const stored = await storedChunks(app.stores, 'run-1')
    expect([textOf(stored), terminalsOf(stored)]).toEqual(['once', ['RUN_FINISHED']])
    expect(await app.stores.runs.get('run-1')).toMatchObject({ status: 'completed', driverEpoch: 1 })
    expect((await app.stores.messages.loadThread('thread-1')).map(({ content }) => content)).toEqual(['hello', 'once'])
  })
})

describe('a second send that is accepted before the claim of the first, and set up while it stores its turn', () => {
  it('leaves the end of the first to the first', async () => {
    const app = await ownWiring()
    const { eventLog } = app.stores
    const [claimed, held] = [gate(), gate()]
    const open = eventLog.open.bind(eventLog)
    let opened = 0
    eventLog.open = (input) => {
      const log = open(input)
      opened += 1
      if (opened !== 2) return log
      const append = log.append.bind(log)
      log.append = async (chunks) => {
        const offsets = await append(chunks)
        await claimed.opened
        return offsets
      }
      return log
    }
    const { messages } = app.stores
    const save = messages.saveThread.bind(messages)
    messages.saveThread = async (...input) => {
      claimed.open()
      await held.opened
      await save(...input)
    }
    const first = send(app, { turns: [[{ say: 'once' }]] })
    const second = send(app, { turns: [[{ say: 'twice' }]] })
    expect(await second.response.text()).toContain('DRIVER_HELD')
    held.open()
    await first.response.text()
    expect((await app.stores.messages.loadThread('thread-1')).map(({ content }) => content)).toEqual(['hello', 'once'])
    expect(await app.stores.runs.get('run-1')).toMatchObject({ status: 'completed' })
  })
})

describe('a run that fails', () => {
  it('ends with the model’s error, once, also after a turn that has ended', async () => {
    for (const turns of [[], [[{ call: 'bash', args: { command: 'true' } }]]]) {
      const app = await ownWiring()
      const sent = send(app, { turns: [...turns, [{ say: 'a' }, { fail: new Error('out of tokens') }]] })
      await sent.response.text()
      const stored = await storedChunks(app.stores, 'run-1')
      expect(stored.filter(({ type }) => type === 'RUN_ERROR')).toHaveLength(1)
      expect(stored.at(-1)).toMatchObject({ type: 'RUN_ERROR', message: 'out of tokens' })
      expect(await app.stores.runs.get('run-1')).toMatchObject({
        status: 'failed',
        error: { message: 'out of tokens' },
      })
      expect(await app.stores.eventLog.find('run-1')).toMatchObject({ isClosed: true })
    }
  })

  it('keeps the question when there is no sandbox to be had, and the next one is answered', async () => {
    const app = await ownWiring()
    app.service.faults.add({ on: 'create', nth: 1, do: 'fail' })
    expect(await refusalOf(send(app, { turns: [] }))).toMatchObject({ code: expect.any(String) })
    expect(await app.stores.runs.get('run-1')).toMatchObject({ status: 'failed', error: { code: expect.any(String) } })
    expect(terminalsOf(await storedChunks(app.stores, 'run-1'))).toEqual(['RUN_ERROR'])
    const messages = [{ role: 'user' as const, content: 'again' }]
    await send(app, { turns: [[{ say: 'ok' }]], runId: 'run-2', messages }).response.text()
    const contents = (await app.stores.messages.loadThread('thread-1')).map(({ content }) => content)
    expect(contents).toEqual(['hello', 'again', 'ok'])
  })
})

describe('a host that is superseded', () => {
  it('can neither add an event nor an end, and its run is continued like any other', async () => {
    const app = await ownWiring()
    const { sent, open } = await busy(app)
    heartbeatOf(app.clock).remove(sent.session()!)
    await app.clock.advance(DRIVER_LEASE_MS + 1)
    const next = otherHost(app)
    const model = scriptedModel([[{ say: 'whole' }]])
    const driver = {
      tools: [],
      drive: (run: Parameters<typeof streamFor>[1]) => streamFor(next.stores, run, model, []),
    }
    expect(await takeOverRun({ ...next, runId: 'run-1', driver })).toBe('taken-over')
    await until(async () => (await app.stores.runs.get('run-1'))?.status === 'completed')
    const stored = await storedChunks(app.stores, 'run-1')
    const transcript = await app.stores.messages.loadThread('thread-1')
    open()
    expect(await sent.response.text()).toContain('DRIVER_LOST')
    await until(() => sent.session() === undefined)
    expect(await storedChunks(app.stores, 'run-1')).toEqual(stored)
    expect(await app.stores.messages.loadThread('thread-1')).toEqual(transcript)
    expect(transcript.map(({ content }) => content)).toEqual(['hello', 'whole'])
    expect(await app.stores.runs.get('run-1')).toMatchObject({ status: 'completed', driverEpoch: 2 })
    expect(await app.service.existing(), 'the successor’s sandbox').toHaveLength(1)
  })
})

describe('a wiring that cannot be durable', () => {
  const warnings = (): string[] => {
    const messages: string[] = []
    const listener = (warning: Error & { code?: string }): void => {
      if (warning.code === 'HOLDFAST_DURABILITY') messages.push(warning.message)
    }
    process.on('warning', listener)
    onTestFinished(() => void process.off('warning', listener))
    return messages
  }
  const configured = (app: OwnWiring, options: object): unknown => {
    try {
      withSandbox(app.sandbox, options as WithSandboxOptions)
    } catch (error) {
      return isHoldfastError(error) ? error.code : error
    }
    return 'accepted'
  }

  it('is warned of when only one of the pair is there, and options that have another place are', async () => {
    const app = await ownWiring()
    const { stores } = app
    const told = warnings()
    const adapter = durableLog({ stores, request: request() })
    expect(configured(app, { runs: stores.runs })).toBe('accepted')
    expect(configured(app, { durability: { adapter } })).toBe('accepted')
    expect(configured(app, { runs: stores.runs, durability: { adapter, detachedRunTtl: '30m' } })).toBe('accepted')
    await settled(2)
    expect(told).toEqual([
      expect.stringContaining('`runs`'),
      expect.stringContaining('`durability`'),
      expect.stringContaining('detachedTtlMs'),
    ])
  })

  it('is refused with a code when it contradicts itself, or when nothing could fence it', async () => {
    const app = await ownWiring()
    const { stores } = app
    const { runs } = stores
    const adapter = durableLog({ stores, request: request() })
    const run = await beginRun({ stores, clock: app.clock, chat: chatRequest('run-9') })
    const wrong: object[] = [
      { runs, durability: { adapter: memoryStream(request()) } },
      { runs, durability: { adapter: stores.eventLog.open({ runId: 'run-1' }) } },
      { runs: createMemoryStores().runs, durability: { adapter } },
      { runs, durability: { adapter, attach: true } },
      { run, runs, durability: { adapter } },
    ]
    for (const options of wrong) expect(configured(app, options)).toBe('INVALID_CONFIGURATION')
    expect(() => durableLog({ stores, request: request({}) })).toThrow(expect.objectContaining({ code: 'INVALID_ID' }))
  })

  const drained = async (
    app: OwnWiring,
    input: { runId?: string; persistence?: HoldfastStores; isServed: boolean },
  ) => {
    const { stores, clock } = app
    const adapter = durableLog({ stores, request: request(), clock })
    const { runId = 'run-1', persistence = stores } = input
    const stream = chat({
      adapter: scriptedModel([[{ say: 'no' }]]).adapter,
      threadId: 'thread-1',
      runId,
      messages: [{ role: 'user', content: 'hello' }],
      debug: false,
      middleware: [
        withPersistence(persistence),
        withSandbox(app.sandbox, { runs: stores.runs, durability: { adapter } }),
      ],
    } as unknown as Parameters<typeof chat>[0]) as AsyncIterable<StreamChunk>
    const options = input.isServed ? { durability: { adapter }, debug: false } : {}
    return toServerSentEventsResponse(stream, options).text()
  }

  it('fails before anything is claimed, and says what is missing', async () => {
    const app = await ownWiring()
    const faults = [
      { text: await drained(app, { isServed: false }), says: 'same `durability`' },
      { text: await drained(app, { isServed: true, runId: 'run-other' }), says: '`runId`' },
      { text: await drained(app, { isServed: true, persistence: createMemoryStores() }), says: 'withPersistence' },
    ]
    for (const { text, says } of faults) {
      expect(text).toContain('INVALID_CONFIGURATION')
      expect(text).toContain(says)
    }
    expect(await app.stores.runs.get('run-1')).toBeNull()
    expect(await app.stores.eventLog.find('run-1')).toBeNull()
    expect(await app.service.existing()).toEqual([])
  })
})

describe('the log by itself', () => {
  it('serves a chat without a sandbox as TanStack’s own logs do, and replays it from a position', async () => {
    const { stores, clock } = await ownWiring()
    const adapter = durableLog({ stores, request: request(), clock })
    const stream = chat({
      adapter: scriptedModel([[{ say: 'hello' }]]).adapter,
      threadId: 'thread-1',
      runId: 'run-1',
      messages: [{ role: 'user', content: 'hello' }],
      middleware: [withPersistence(stores)],
    } as unknown as Parameters<typeof chat>[0]) as AsyncIterable<StreamChunk>
    const events = await eventsOf(toServerSentEventsResponse(stream, { durability: { adapter } }))
    expect(await stores.runs.get('run-1')).toMatchObject({ status: 'completed' })
    const headers = { 'X-Run-Id': 'run-1', 'Last-Event-ID': events[1]!.id }
    const rest = resumeServerSentEventsResponse({ adapter: durableLog({ stores, request: request(headers), clock }) })
    expect((await eventsOf(rest)).map(({ id }) => id)).toEqual(events.slice(2).map(({ id }) => id))
    const named = durableLog({ stores, runId: 'run-1', offset: '-1', clock })
    expect((await eventsOf(resumeServerSentEventsResponse({ adapter: named }))).length).toBe(events.length)
  })
})
