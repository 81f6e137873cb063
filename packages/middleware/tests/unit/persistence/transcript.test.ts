import type { ModelMessage, StreamChunk } from '@tanstack/ai'
import { describe, expect, it } from 'vitest'
import { closeOpenToolCalls } from '../../../src/persistence/open-tool-calls.ts'
import { markRun, withoutRun, writtenBy } from '../../../src/persistence/run-mark.ts'
import { ToolHistory, withoutObserved } from '../../../src/persistence/tool-history.ts'
import { hydrateThread } from '../../../src/persistence/hydrate-thread.ts'
import { chatFixture, chatRequest, startChat } from '../../fixtures/chat-fixture.ts'
import { settled } from '../../fixtures/gate.ts'

const call = (id: string): NonNullable<ModelMessage['toolCalls']>[number] => ({
  id,
  type: 'function',
  function: { name: 'bash', arguments: '{}' },
})

describe('closeOpenToolCalls', () => {
  it('gives each open call a result right after its message and leaves answered ones alone', () => {
    const messages: ModelMessage[] = [
      { role: 'assistant', id: 'a', content: null, toolCalls: [call('1'), call('2')] },
      { role: 'tool', id: 't', toolCallId: '2', content: 'ok' },
    ]
    const closed = closeOpenToolCalls(messages, 0)
    expect(closed.map((message) => message.toolCallId)).toEqual([undefined, '1', '2'])
    expect(closeOpenToolCalls(closed, 0)).toEqual(closed)
  })
})

describe('run marks', () => {
  it('tell what a run wrote from what was there before, and survive another run', () => {
    const before: ModelMessage[] = [{ role: 'user', id: 'u', content: 'x' }]
    const first = markRun([...before, { role: 'assistant', id: 'a', content: 'y' }], 1, 'run-1')
    const second = markRun([...first, { role: 'assistant', id: 'b', content: 'z' }], 2, 'run-2')
    expect(second.map(writtenBy)).toEqual([undefined, 'run-1', 'run-2'])
    expect(withoutRun(second, 'run-2')).toEqual(first)
  })
})

describe('ToolHistory', () => {
  const chunks = [
    { type: 'TOOL_CALL_START', toolCallId: '1', toolCallName: 'edit' },
    { type: 'TOOL_CALL_ARGS', toolCallId: '1', delta: '{"a":1}' },
    { type: 'TOOL_CALL_RESULT', toolCallId: '1', content: 'done' },
  ] as StreamChunk[]

  it('keeps an agent’s own calls before its answer, once, and hides them from a model', () => {
    const history = new ToolHistory()
    for (const chunk of [...chunks, ...chunks.slice(0, 1)]) history.observe(chunk)
    const told = history.addTo([{ role: 'assistant', id: 'a', content: 'bye' }], 0, { hasEnded: false })
    expect(told.map((message) => message.role)).toEqual(['assistant', 'tool', 'assistant'])
    expect(told[0]?.toolCalls?.[0]?.function).toEqual({ name: 'edit', arguments: '{"a":1}' })
    expect(withoutObserved(told).map((message) => message.id)).toEqual(['a'])
    expect(history.addTo(told, 0, { hasEnded: true })).toEqual(told)
  })

  const says = (delta: string): StreamChunk => ({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'a', delta }) as StreamChunk
  const second = chunks.map((chunk) => ({ ...chunk, toolCallId: '2' }) as StreamChunk)
  const words = (messages: readonly ModelMessage[]): unknown[] =>
    messages.filter(({ role }) => role === 'assistant').map(({ content, toolCalls }) => [content, toolCalls?.length])

  it.each<[string, StreamChunk[], unknown[]]>([
    [
      'between its words',
      [says('I look. '), ...chunks, ...second, says('I edit. '), says('Done.')],
      [
        ['I look. ', 1],
        [null, 1],
        ['I edit. Done.', undefined],
      ],
    ],
    [
      'after each of its words',
      [says('I look. '), ...chunks, says('I edit. '), ...second, says('Done.')],
      [
        ['I look. ', 1],
        ['I edit. ', 1],
        ['Done.', undefined],
      ],
    ],
    [
      'after its last word',
      [says('I look. '), ...chunks, says('I edit.'), ...second],
      [
        ['I look. ', 1],
        ['I edit.', undefined],
        [null, 1],
      ],
    ],
  ])('keeps the order of an agent that called %s, and gives a model its words in one', (_when, said, expected) => {
    const history = new ToolHistory()
    for (const chunk of said) history.observe(chunk)
    const content = said.map((chunk) => (chunk.type === 'TEXT_MESSAGE_CONTENT' ? chunk.delta : '')).join('')
    const answer: ModelMessage = { role: 'assistant', id: 'a', content }
    const told = history.addTo([answer], 0, { hasEnded: true })
    expect(words(told)).toEqual(expected)
    expect(withoutObserved(told)).toEqual([answer])
    expect(history.addTo(told, 0, { hasEnded: true })).toEqual(told)
  })

  it('takes the result of a call that was cut off for no words of the agent', () => {
    const history = new ToolHistory()
    for (const chunk of [says('I look. '), ...chunks.slice(0, 2), says('Oops')]) history.observe(chunk)
    const answer: ModelMessage = { role: 'assistant', id: 'a', content: 'I look. Oops' }
    const closed = closeOpenToolCalls(history.addTo([answer], 0, { hasEnded: true }), 0)
    expect(closed.map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant'])
    expect(withoutObserved(closed)).toEqual([answer])
  })

  it('leaves a call out that has no result yet: the engine may be about to make it', () => {
    const history = new ToolHistory()
    for (const chunk of chunks.slice(0, 2)) history.observe(chunk)
    expect(history.addTo([], 0, { hasEnded: false })).toEqual([])
    expect(history.addTo([], 0, { hasEnded: true })).toHaveLength(1)
  })
})

describe('a stored transcript', () => {
  it('keeps ids and times from stream to reload', async () => {
    const fixture = chatFixture()
    const { run, stream } = await startChat(fixture, { turns: [[{ say: 'hi' }]] })
    await run.drive(stream)
    const stored = await fixture.stores.messages.loadThread('thread-1')
    expect(stored.map((message) => message.id)).toEqual(['run-1-user', 'run-1-1'])
    const hydrated = await hydrateThread(fixture.stores, 'thread-1')
    expect(hydrated.messages.map((message) => message.id)).toEqual(['run-1-user', 'run-1-1'])
    const times = stored.map((message) => new Date(message.createdAt ?? 0).getTime())
    expect(hydrated.messages.map((message) => new Date(message.createdAt ?? 0).getTime())).toEqual(times)
    const next = await startChat(fixture, { turns: [[{ say: 'again' }]], request: chatRequest('run-2', 'more') })
    await next.run.drive(next.stream)
    const later = await fixture.stores.messages.loadThread('thread-1')
    expect(later.slice(0, 2).map((message) => message.id)).toEqual(['run-1-user', 'run-1-1'])
    expect(new Set(later.map((message) => message.id)).size).toBe(later.length)
  })

  it('keeps what was said of an answer that was cut off', async () => {
    const fixture = chatFixture()
    const { run, stream } = await startChat(fixture, { turns: [[{ say: 'half an ' }, { wait: untilAborted }]] })
    const driving = run.drive(stream)
    await settled()
    run.session.stop('cancel')
    await driving
    const stored = await fixture.stores.messages.loadThread('thread-1')
    expect(stored.map((message) => message.content)).toEqual(['hello', 'half an '])
  })
})

function untilAborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true }))
}
