import { isHoldfastError } from '@holdfast/core'
import { EventType, StreamProcessor, toolDefinition } from '@tanstack/ai'
import type { AnyTool, StreamChunk } from '@tanstack/ai'
import { describe, expect, it } from 'vitest'
import { DRIVER_LEASE_MS, heartbeatOf } from '../../../src/runs/heartbeat.ts'
import type { RunDriver } from '../../../src/runs/run-driver.ts'
import { findSession } from '../../../src/runs/session-registry.ts'
import { takeOverRun } from '../../../src/runs/take-over-run.ts'
import { IDEMPOTENT } from '../../../src/persistence/resume-point.ts'
import {
  chatFixture,
  chatRequest,
  otherHost,
  startChat,
  storedChunks,
  streamFor,
  terminalsOf,
} from '../../fixtures/chat-fixture.ts'
import type { ChatFixture } from '../../fixtures/chat-fixture.ts'
import { settled } from '../../fixtures/gate.ts'
import { scriptedModel } from '../../fixtures/scripted-model.ts'
import type { ModelAction, ScriptedModel } from '../../fixtures/scripted-model.ts'

const never = (): Promise<void> => new Promise(() => undefined)

interface CountedTool {
  tool: AnyTool
  calls: string[]
}

function countedTool(options: { idempotent?: boolean; hangs?: boolean } = {}): CountedTool {
  const calls: string[] = []
  const tool = toolDefinition({
    name: 'work',
    description: 'Counts its calls.',
    inputSchema: { type: 'object', properties: { step: { type: 'string' } } },
    metadata: { [IDEMPOTENT]: options.idempotent ?? false },
  }).server(async (args: unknown) => {
    calls.push(String(Reflect.get(args as object, 'step')))
    if (options.hangs === true) await never()
    return { done: true }
  })
  return { tool: tool as unknown as AnyTool, calls }
}

/** A host that works through its script until nothing moves any more, and then dies. */
async function hostThatDies(fixture: ChatFixture, turns: ModelAction[][], tools: AnyTool[] = []): Promise<void> {
  const host = otherHost(fixture)
  const { run, stream } = await startChat(host, { turns, tools })
  void run.drive(stream)
  await settled(200)
  await bury(fixture, host)
}

/** The last event of a run that waits for a person. */
function pauseOf(runId: string): StreamChunk {
  const outcome = { type: 'interrupt', interrupts: [{ id: 'interrupt-1', reason: 'tool_call' }] }
  return { type: EventType.RUN_FINISHED, runId, threadId: 'thread-1', timestamp: 1, outcome } as StreamChunk
}

async function bury(fixture: ChatFixture, host: ChatFixture): Promise<void> {
  const session = findSession(host.stores, 'run-1')
  if (session !== undefined) heartbeatOf(fixture.clock).remove(session)
  await fixture.clock.advance(DRIVER_LEASE_MS + 1)
}

function driverOf(
  fixture: ChatFixture,
  turns: ModelAction[][],
  tools: AnyTool[] = [],
): { driver: RunDriver; model: ScriptedModel } {
  const model = scriptedModel(turns)
  return { model, driver: { tools, drive: (run) => streamFor(fixture.stores, run, model, tools) } }
}

async function takeOver(fixture: ChatFixture, driver: RunDriver): Promise<string> {
  const result = await takeOverRun({ ...fixture, runId: 'run-1', driver })
  await findSession(fixture.stores, 'run-1')?.ended
  return result
}

/** What a viewer has on the screen who saw all of the log. */
function screen(chunks: readonly StreamChunk[]): string {
  const processor = new StreamProcessor()
  for (const chunk of chunks) processor.processChunk(chunk)
  return processor
    .getMessages()
    .filter((message) => message.role === 'assistant')
    .flatMap((message) => message.parts.map((part) => (part.type === 'text' ? part.content : '')))
    .join('')
}

describe('takeOverRun', () => {
  it('says again what the dead host had half said, and a viewer sees it once', async () => {
    const fixture = chatFixture()
    await hostThatDies(fixture, [[{ say: 'half a ' }, { wait: never }]])
    const { driver } = driverOf(fixture, [[{ say: 'half a ' }, { say: 'sentence' }]])
    expect(await takeOver(fixture, driver)).toBe('taken-over')
    const chunks = await storedChunks(fixture.stores, 'run-1')
    expect(screen(chunks)).toBe('half a sentence')
    expect(terminalsOf(chunks)).toEqual(['RUN_FINISHED'])
    expect(chunks.filter((chunk) => chunk.type === 'RUN_STARTED')).toHaveLength(1)
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'completed', driverEpoch: 2 })
    const transcript = await fixture.stores.messages.loadThread('thread-1')
    expect(transcript.map((message) => message.content)).toEqual(['hello', 'half a sentence'])
  })

  it('does not run a tool again that had begun, and tells the model so', async () => {
    const fixture = chatFixture()
    const first = countedTool({ hangs: true })
    await hostThatDies(fixture, [[{ call: 'work', args: { step: 'one' } }]], [first.tool])
    expect(first.calls).toEqual(['one'])
    const second = countedTool()
    const { driver, model } = driverOf(fixture, [[{ say: 'ok' }]], [second.tool])
    await takeOver(fixture, driver)
    expect(second.calls).toEqual([])
    expect(JSON.stringify(model.seen[0])).toContain('interrupted')
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'completed' })
  })

  it('runs a tool again that says repeating is harmless', async () => {
    const fixture = chatFixture()
    const first = countedTool({ hangs: true, idempotent: true })
    await hostThatDies(fixture, [[{ call: 'work', args: { step: 'one' } }]], [first.tool])
    const second = countedTool({ idempotent: true })
    const { driver } = driverOf(fixture, [[{ say: 'ok' }]], [second.tool])
    await takeOver(fixture, driver)
    expect(second.calls).toEqual(['one'])
    expect(screen(await storedChunks(fixture.stores, 'run-1'))).toBe('ok')
  })

  it('keeps the result of a tool that had ended, and makes the calls that had not begun', async () => {
    const fixture = chatFixture()
    const first = countedTool()
    const stuck = toolDefinition({ name: 'stuck', description: 'Never ends.', inputSchema: { type: 'object' } }).server(
      never,
    )
    const turns = [
      [
        { call: 'work', args: { step: 'one' } },
        { call: 'stuck', args: {} },
        { call: 'work', args: { step: 'three' } },
      ],
    ]
    await hostThatDies(fixture, turns, [first.tool, stuck as unknown as AnyTool])
    expect(first.calls).toEqual(['one'])
    const second = countedTool()
    const { driver, model } = driverOf(fixture, [[{ say: 'ok' }]], [second.tool, stuck as unknown as AnyTool])
    await takeOver(fixture, driver)
    expect(second.calls).toEqual(['three'])
    const results = (await fixture.stores.messages.loadThread('thread-1')).filter((message) => message.role === 'tool')
    const interrupted = results.filter((message) => JSON.stringify(message.content).includes('interrupted'))
    expect(results).toHaveLength(3)
    expect(interrupted.map((message) => message.toolCallId)).toEqual(['run-1-1-call-2'])
    expect(JSON.stringify(model.seen[0])).toContain('"done\\":true')
  })

  it('asks the model nothing when its last answer was stored already', async () => {
    const fixture = chatFixture()
    const host = otherHost(fixture)
    const { run, stream } = await startChat(host, { turns: [[{ say: 'all said' }]] })
    run.session.addEndHandler({ name: 'stuck', run: never })
    void run.drive(stream)
    await settled(200)
    await bury(fixture, host)
    const { driver, model } = driverOf(fixture, [[{ say: 'again' }]])
    expect(await takeOver(fixture, driver)).toBe('settled')
    expect(model.seen).toHaveLength(0)
    const chunks = await storedChunks(fixture.stores, 'run-1')
    expect(screen(chunks)).toBe('all said')
    expect(terminalsOf(chunks)).toEqual(['RUN_FINISHED'])
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'completed' })
  })

  it('never disturbs a live driver, and never revives an ended or a cancelled run', async () => {
    const fixture = chatFixture()
    const host = otherHost(fixture)
    const { run, stream } = await startChat(host, { turns: [[{ say: 'a' }, { wait: never }]] })
    void run.drive(stream)
    await settled()
    const { driver, model } = driverOf(fixture, [[{ say: 'b' }]])
    expect(await takeOverRun({ ...fixture, runId: 'run-1', driver })).toBe('driven')
    run.session.markEnded()
    await bury(fixture, host)
    await fixture.stores.drivers.requestCancel({ runId: 'run-1' })
    expect(await takeOverRun({ ...fixture, runId: 'run-1', driver })).toBe('settled')
    expect(await takeOverRun({ ...fixture, runId: 'run-1', driver })).toBe('ended')
    expect(await takeOverRun({ ...fixture, runId: 'nobody', driver })).toBe('unknown-run')
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'aborted' })
    expect(model.seen).toHaveLength(0)
  })

  it('ends a paused run whose host died after its cancel, and leaves one alone that waits', async () => {
    const fixture = chatFixture()
    const { drivers, eventLog, runs } = fixture.stores
    const runId = 'run-1'
    const { epoch } = await drivers.claim({ runId, threadId: 'thread-1', owner: 'a', ttlMs: 1_000 })
    const log = eventLog.open({ runId, epoch })
    await log.append([pauseOf(runId)])
    await log.close()
    await drivers.finish({ runId, epoch, status: 'interrupted' })
    const { driver, model } = driverOf(fixture, [[{ say: 'b' }]])
    expect(await takeOverRun({ ...fixture, runId, driver })).toBe('ended')
    expect(await runs.get(runId)).toMatchObject({ status: 'interrupted', driverEpoch: 1 })
    await drivers.requestCancel({ runId })
    expect(await takeOverRun({ ...fixture, runId, driver })).toBe('settled')
    expect(await runs.get(runId)).toMatchObject({ status: 'aborted' })
    expect(model.seen).toHaveLength(0)
  })

  it('gives a run that brings down its hosts up in the end', async () => {
    const fixture = chatFixture()
    await hostThatDies(fixture, [[{ say: 'a' }, { wait: never }]])
    const results: string[] = []
    for (let round = 0; round < 8; round += 1) {
      const host = otherHost(fixture)
      const { driver } = driverOf(host, [[{ say: 'a' }, { wait: never }]])
      results.push(await takeOverRun({ ...host, runId: 'run-1', driver }))
      await settled(100)
      await bury(fixture, host)
    }
    expect(results).toContain('settled')
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'failed', error: { code: 'HOST_LOST' } })
  })

  it('is refused everything when the first host wakes up', async () => {
    const fixture = chatFixture()
    await hostThatDies(fixture, [[{ say: 'a' }, { wait: never }]])
    const { driver } = driverOf(fixture, [[{ say: 'b' }]])
    await takeOver(fixture, driver)
    const stale = fixture.stores.eventLog.open({ runId: 'run-1', epoch: 1 })
    const refused: unknown = await stale
      .append([{ type: 'CUSTOM', name: 'x', value: {}, timestamp: 1 } as StreamChunk])
      .catch((error: unknown) => error)
    expect(isHoldfastError(refused)).toBe(true)
    const next = await startChat(fixture, { turns: [[{ say: 'ok' }]], request: chatRequest('run-2', 'next') })
    await next.run.drive(next.stream)
    expect(await fixture.stores.runs.get('run-2')).toMatchObject({ status: 'completed' })
  })
})
