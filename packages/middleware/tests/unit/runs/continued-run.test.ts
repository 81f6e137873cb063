import { StoreError } from '@holdfast/core'
import type { HoldfastStores } from '@holdfast/core'
import { StreamProcessor, toolDefinition } from '@tanstack/ai'
import type { AnyTool, StreamChunk } from '@tanstack/ai'
import { describe, expect, it } from 'vitest'
import { DRIVER_LEASE_MS, heartbeatOf } from '../../../src/runs/heartbeat.ts'
import { findSession } from '../../../src/runs/session-registry.ts'
import { settleOrphan } from '../../../src/runs/settle-orphan.ts'
import { stopRuns } from '../../../src/runs/stop-runs.ts'
import { takeOverRun } from '../../../src/runs/take-over-run.ts'
import { chatFixture, otherHost, startChat, storedChunks, streamFor, terminalsOf } from '../../fixtures/chat-fixture.ts'
import type { ChatFixture } from '../../fixtures/chat-fixture.ts'
import { settled } from '../../fixtures/gate.ts'
import { scriptedModel } from '../../fixtures/scripted-model.ts'
import type { ModelAction } from '../../fixtures/scripted-model.ts'

const never = (): Promise<void> => new Promise(() => undefined)

function workTool(): { tool: AnyTool; calls: unknown[] } {
  const calls: unknown[] = []
  const tool = toolDefinition({ name: 'work', description: 'Works.', inputSchema: { type: 'object' } })
  return { calls, tool: tool.server(async (args: unknown) => ({ done: calls.push(args) })) as unknown as AnyTool }
}

async function bury(fixture: ChatFixture, host: ChatFixture): Promise<void> {
  const session = findSession(host.stores, 'run-1')
  if (session !== undefined) heartbeatOf(fixture.clock).remove(session)
  await fixture.clock.advance(DRIVER_LEASE_MS + 1)
}

async function takeOver(fixture: ChatFixture, turns: ModelAction[][], tools: AnyTool[] = []): Promise<string> {
  const host = otherHost(fixture)
  const model = scriptedModel(turns)
  const driver = { tools, drive: (run: Parameters<typeof streamFor>[1]) => streamFor(host.stores, run, model, tools) }
  const result = await takeOverRun({ ...host, runId: 'run-1', driver })
  await findSession(host.stores, 'run-1')?.ended
  return result
}

function screen(chunks: readonly StreamChunk[]): string {
  const processor = new StreamProcessor()
  for (const chunk of chunks) processor.processChunk(chunk)
  const shown = processor.getMessages().filter((message) => message.role === 'assistant')
  return shown.flatMap((message) => message.parts.map((part) => (part.type === 'text' ? part.content : ''))).join('')
}

/** Stores that never answer a write of such events. */
function withoutAppends(stores: HoldfastStores, isStuck: (chunks: StreamChunk[]) => boolean): HoldfastStores {
  const { eventLog } = stores
  const stuck = Object.assign(Object.create(eventLog) as HoldfastStores['eventLog'], {
    open: (input: Parameters<HoldfastStores['eventLog']['open']>[0]) => {
      const log = eventLog.open(input)
      const append = (chunks: StreamChunk[]): Promise<never> | ReturnType<typeof log.append> =>
        isStuck(chunks) ? (never() as Promise<never>) : log.append(chunks)
      return Object.assign(Object.create(log) as typeof log, { append, close: () => log.close() })
    },
    find: (runId: string) => eventLog.find(runId),
  })
  return { ...stores, eventLog: stuck }
}

describe('a run that another host continues', () => {
  it('goes on from the end of a turn that called tools, which is not the end of the run', async () => {
    const fixture = chatFixture()
    const isResult = (chunk: StreamChunk): boolean => chunk.type === 'TOOL_CALL_RESULT'
    const host = { ...fixture, stores: withoutAppends(fixture.stores, (chunks) => chunks.some(isResult)) }
    const { tool } = workTool()
    const turns: ModelAction[][] = [[{ call: 'work', args: {} }], [{ wait: never }]]
    const { run, stream } = await startChat(host, { turns, tools: [tool] })
    void run.drive(stream)
    await settled(200)
    expect((await storedChunks(fixture.stores, 'run-1')).at(-1)?.type).toBe('RUN_FINISHED')
    await bury(fixture, host)
    expect(await takeOver(fixture, [[{ say: 'continued' }]], [tool])).toBe('taken-over')
    expect(screen(await storedChunks(fixture.stores, 'run-1'))).toBe('continued')
  })

  it('is said whole after a clean shutdown in the middle of a sentence', async () => {
    const fixture = chatFixture()
    const host = otherHost(fixture)
    const { run, stream } = await startChat(host, { turns: [[{ say: 'half ' }, { wait: abortable }]] })
    const driven = run.drive(stream)
    await settled()
    expect(await stopRuns(host.stores)).toBe(0)
    await driven
    expect(await takeOver(fixture, [[{ say: 'half a sentence' }]])).toBe('taken-over')
    expect(screen(await storedChunks(fixture.stores, 'run-1'))).toBe('half a sentence')
    const transcript = await fixture.stores.messages.loadThread('thread-1')
    expect(transcript.map((message) => message.content)).toEqual(['hello', 'half a sentence'])
  })

  it('is not begun once more by a send that is repeated, so that its tools do nothing twice', async () => {
    const fixture = chatFixture()
    const host = otherHost(fixture)
    const { tool, calls } = workTool()
    const turns: ModelAction[][] = [[{ call: 'work', args: {} }], [{ wait: never }]]
    const { run, stream } = await startChat(host, { turns, tools: [tool] })
    void run.drive(stream)
    await settled(200)
    await bury(fixture, host)
    await expect(startChat(otherHost(fixture), { turns })).rejects.toMatchObject({ code: 'DRIVER_HELD' })
    expect(await takeOver(fixture, [[{ say: 'done' }]], [tool])).toBe('taken-over')
    expect(calls).toHaveLength(1)
    expect(terminalsOf(await storedChunks(fixture.stores, 'run-1'))).toEqual(['RUN_FINISHED', 'RUN_FINISHED'])
  })

  it('is begun by a repeated send when the first one died before it had stored the question', async () => {
    const fixture = chatFixture()
    await fixture.stores.drivers.claim({ runId: 'run-1', threadId: 'thread-1', owner: 'dead', ttlMs: 1 })
    await fixture.clock.advance(2)
    const { run, stream } = await startChat(fixture, { turns: [[{ say: 'answer' }]] })
    await run.drive(stream)
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'completed' })
  })

  it('is settled when its host died before it had stored the question', async () => {
    const fixture = chatFixture()
    await fixture.stores.drivers.claim({ runId: 'run-1', threadId: 'thread-1', owner: 'dead', ttlMs: 1 })
    await fixture.clock.advance(2)
    expect(await takeOver(fixture, [[{ say: 'to nobody' }]])).toBe('settled')
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'failed' })
  })
})

describe('a run that is settled', () => {
  it('shows a viewer the answer that its host had stored and not yet written to the log', async () => {
    const fixture = chatFixture()
    const isContent = (chunk: StreamChunk): boolean => chunk.type === 'TEXT_MESSAGE_CONTENT'
    const host = { ...fixture, stores: withoutAppends(fixture.stores, (chunks) => chunks.some(isContent)) }
    const { run, stream } = await startChat(host, { turns: [[{ say: 'whole answer' }]] })
    void run.drive(stream)
    await settled(200)
    await bury(fixture, host)
    expect(await settleOrphan({ ...otherHost(fixture), runId: 'run-1' })).toBe('settled')
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'completed' })
    expect(screen(await storedChunks(fixture.stores, 'run-1'))).toBe('whole answer')
  })

  it('keeps the conversation once when it had been continued before', async () => {
    const fixture = chatFixture()
    const first = otherHost(fixture)
    const begun = await startChat(first, { turns: [[{ say: 'a' }, { wait: never }]] })
    void begun.run.drive(begun.stream)
    await settled()
    await bury(fixture, first)
    const second = otherHost(fixture)
    const model = scriptedModel([[{ say: 'ab' }, { wait: never }]])
    const drive = (run: Parameters<typeof streamFor>[1]): AsyncIterable<StreamChunk> =>
      streamFor(second.stores, run, model, [])
    await takeOverRun({ ...second, runId: 'run-1', driver: { tools: [], drive } })
    await settled()
    await bury(fixture, second)
    expect(await settleOrphan({ ...otherHost(fixture), runId: 'run-1' })).toBe('settled')
    const transcript = await fixture.stores.messages.loadThread('thread-1')
    expect(transcript.map((message) => message.content)).toEqual(['hello', 'ab'])
  })
})

describe('a store that is away for a moment', () => {
  it('is no second result of the tool that has just ended', async () => {
    const fixture = chatFixture()
    const { messages } = fixture.stores
    const { tool, calls } = workTool()
    let hasFailed = false
    const flaky = Object.assign(Object.create(messages) as HoldfastStores['messages'], {
      loadThread: messages.loadThread.bind(messages),
      saveThread: async (...args: Parameters<typeof messages.saveThread>) => {
        const isAfterTool = calls.length > 0 && !hasFailed
        hasFailed ||= isAfterTool
        if (isAfterTool) throw new StoreError('STORE_UNAVAILABLE', 'Away.', { retryable: true })
        await messages.saveThread(...args)
      },
    })
    const host = { ...fixture, stores: { ...fixture.stores, messages: flaky } }
    const turns: ModelAction[][] = [[{ call: 'work', args: {} }], [{ say: 'done' }]]
    const { run, stream } = await startChat(host, { turns, tools: [tool] })
    const driven = run.drive(stream)
    while (!hasFailed) await settled(5)
    await fixture.clock.advance(1_000)
    await driven
    const roles = (await messages.loadThread('thread-1')).map((message) => message.role)
    expect(roles).toEqual(['user', 'assistant', 'tool', 'assistant'])
  })

  it('leaves no ended run with an open log behind when a send fails', async () => {
    const fixture = chatFixture()
    const away = (): Promise<never> => Promise.reject(new StoreError('STORE_FAILED', 'Away.'))
    const { messages, eventLog } = fixture.stores
    const host = {
      ...fixture,
      stores: {
        ...fixture.stores,
        messages: { loadThread: away, saveThread: messages.saveThread.bind(messages) },
        eventLog: Object.assign(Object.create(eventLog) as typeof eventLog, {
          open: (input: Parameters<typeof eventLog.open>[0]) =>
            Object.assign(Object.create(eventLog.open(input)) as object, { append: away }),
        }),
      },
    } as ChatFixture
    await expect(startChat(host, { turns: [] })).rejects.toMatchObject({ code: 'STORE_FAILED' })
    await fixture.clock.advance(DRIVER_LEASE_MS + 1)
    expect(await settleOrphan({ ...otherHost(fixture), runId: 'run-1' })).toBe('settled')
    expect(await fixture.stores.eventLog.find('run-1')).toMatchObject({ isClosed: true })
  })
})

function abortable(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(new DOMException('Aborted.', 'AbortError')), { once: true })
  })
}
