import type { StreamChunk } from '@tanstack/ai'
import { describe, expect, it } from 'vitest'
import { heartbeatOf, DRIVER_LEASE_MS } from '../../../src/runs/heartbeat.ts'
import { attachRun } from '../../../src/runs/attach-run.ts'
import { settleOrphan } from '../../../src/runs/settle-orphan.ts'
import {
  chatFixture,
  chatRequest,
  eventsOf,
  otherHost,
  startChat,
  storedChunks,
  terminalsOf,
} from '../../fixtures/chat-fixture.ts'
import type { ChatFixture } from '../../fixtures/chat-fixture.ts'
import { settled } from '../../fixtures/gate.ts'

const never = (): Promise<void> => new Promise(() => undefined)
const chunk = (fields: object): StreamChunk => ({ timestamp: 1, ...fields }) as StreamChunk

/** A host that has produced these chunks and then stops existing. */
async function deadRun(fixture: ChatFixture, chunks: StreamChunk[], close = false): Promise<void> {
  const host = otherHost(fixture)
  const { run } = await startChat(host, { turns: [[{ wait: never }]] })
  const log = host.stores.eventLog.open({ runId: 'run-1', epoch: run.session.epoch ?? 0 })
  if (chunks.length > 0) await log.append(chunks)
  if (close) await log.close()
  heartbeatOf(fixture.clock).remove(run.session)
  run.session.markEnded()
  await fixture.clock.advance(DRIVER_LEASE_MS + 1)
}

const finished = (finishReason: string): StreamChunk =>
  chunk({ type: 'RUN_FINISHED', runId: 'run-1', threadId: 'thread-1', metadata: { tanstack: { finishReason } } })
const text = [
  chunk({ type: 'TEXT_MESSAGE_START', messageId: 'm1', role: 'assistant' }),
  chunk({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: 'half' }),
]
const toolCall = [
  chunk({ type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'bash', toolName: 'bash' }),
  chunk({ type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '{"command":"x"}' }),
  chunk({ type: 'TOOL_CALL_END', toolCallId: 'c1', toolCallName: 'bash', toolName: 'bash' }),
]

describe('settleOrphan', () => {
  it('leaves a run alone whose driver is alive', async () => {
    const fixture = chatFixture()
    await startChat(fixture, { turns: [[{ wait: never }]] })
    expect(await settleOrphan({ ...otherHost(fixture), runId: 'run-1' })).toBe('driven')
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'running' })
  })

  const cuts: [string, StreamChunk[], boolean, string, string[]][] = [
    ['before its first event', [], false, 'failed', ['RUN_ERROR']],
    ['in the middle of a text', text, false, 'failed', ['RUN_ERROR']],
    ['in the middle of a tool call', toolCall, false, 'failed', ['RUN_ERROR']],
    ['between two turns', [...toolCall, finished('tool_calls')], false, 'failed', ['RUN_FINISHED', 'RUN_ERROR']],
    ['after its last event', [...text, finished('stop')], false, 'completed', ['RUN_FINISHED']],
    ['after it closed its log', [...text, finished('stop')], true, 'completed', ['RUN_FINISHED']],
  ]
  for (const [title, chunks, closed, status, terminals] of cuts) {
    it(`finishes a run whose host died ${title}, once, so that the next message works`, async () => {
      const fixture = chatFixture()
      await deadRun(fixture, chunks, closed)
      expect(await settleOrphan({ ...fixture, runId: 'run-1' })).toBe('settled')
      expect(await settleOrphan({ ...fixture, runId: 'run-1' })).toBe('ended')
      expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status })
      expect(terminalsOf(await storedChunks(fixture.stores, 'run-1'))).toEqual(terminals)
      expect(await fixture.stores.eventLog.find('run-1')).toMatchObject({ isClosed: true })
      const transcript = await fixture.stores.messages.loadThread('thread-1')
      const calls = transcript.flatMap((message) => message.toolCalls?.map((call) => call.id) ?? [])
      const results = transcript.flatMap((message) => message.toolCallId ?? [])
      expect(results).toEqual(calls)
      const next = await startChat(fixture, { turns: [[{ say: 'ok' }]], request: chatRequest('run-2', 'again') })
      await next.run.drive(next.stream)
      expect(await fixture.stores.runs.get('run-2')).toMatchObject({ status: 'completed' })
    })
  }

  it('is called for a viewer who attaches, so that the stream ends', async () => {
    const fixture = chatFixture()
    await deadRun(fixture, text)
    const request = new Request('http://localhost/api/chat?runId=run-1&offset=-1')
    const events = await eventsOf(await attachRun({ ...fixture, request }))
    expect(events.map((event) => event.chunk.type)).toEqual([
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'RUN_ERROR',
    ])
  })

  it('is called again while a viewer watches a host that dies later', async () => {
    const fixture = chatFixture()
    const host = otherHost(fixture)
    const { run, stream } = await startChat(host, { turns: [[{ say: 'a' }, { wait: never }]] })
    void run.drive(stream)
    const request = new Request('http://localhost/api/chat?runId=run-1&offset=-1')
    const response = await attachRun({ ...fixture, request })
    await settled()
    heartbeatOf(fixture.clock).remove(run.session)
    for (let round = 0; round < 4; round += 1) await fixture.clock.advance(DRIVER_LEASE_MS / 2 + 1)
    const events = await eventsOf(response)
    expect(terminalsOf(events.map((event) => event.chunk))).toEqual(['RUN_ERROR'])
  })
})
