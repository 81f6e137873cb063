import { chat } from '@tanstack/ai'
import type { AnyChatMiddleware, ChatMiddlewareContext, ModelMessage, StreamChunk } from '@tanstack/ai'
import { getPendingTurn } from '@tanstack/ai/adapter-internals'
import { describe, expect, it } from 'vitest'
import { withPersistence } from '../../../src/persistence/with-persistence.ts'
import { chatFixture } from '../../fixtures/chat-fixture.ts'
import type { ChatFixture } from '../../fixtures/chat-fixture.ts'
import { scriptedModel } from '../../fixtures/scripted-model.ts'

const STORED: ModelMessage[] = [
  { role: 'user', id: 'first', content: 'one?' },
  { role: 'assistant', id: 'answer', content: 'one' },
]

/** A chat of which nobody has claimed the run, with another middleware after persistence. */
async function drain(
  { stores }: ChatFixture,
  setup: (ctx: ChatMiddlewareContext) => Promise<void>,
): Promise<'ended' | Error> {
  const after: AnyChatMiddleware = { name: 'after', setup }
  const stream = chat({
    adapter: scriptedModel([[{ say: 'two' }]]).adapter,
    threadId: 'thread-1',
    runId: 'run-1',
    messages: [{ role: 'user', content: 'two?' }],
    debug: false,
    middleware: [withPersistence(stores), after],
  } as unknown as Parameters<typeof chat>[0]) as AsyncIterable<StreamChunk>
  try {
    for await (const _chunk of stream);
    return 'ended'
  } catch (error) {
    return error as Error
  }
}

const contentsOf = async ({ stores }: ChatFixture): Promise<unknown[]> =>
  (await stores.messages.loadThread('thread-1')).map(({ content }) => content)

describe('a chat that drives no claimed run', () => {
  it('leaves the stored thread as it is when it fails before its turn is stored', async () => {
    const fixture = chatFixture()
    await fixture.stores.messages.saveThread('thread-1', STORED)
    const ended = await drain(fixture, () => Promise.reject(new Error('no sandbox')))
    expect(ended).toMatchObject({ message: 'no sandbox' })
    expect(await contentsOf(fixture)).toEqual(['one?', 'one'])
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'failed' })
  })

  it('stores turn and record early for a middleware that is slow to set up, and once', async () => {
    const fixture = chatFixture()
    await fixture.stores.messages.saveThread('thread-1', STORED)
    const ended = await drain(fixture, async (ctx) => {
      await getPendingTurn(ctx).snapshot()
      expect(await contentsOf(fixture)).toEqual(['one?', 'one', 'two?'])
      expect(await fixture.stores.runs.findActiveRun('thread-1')).toMatchObject({ runId: 'run-1' })
    })
    expect(ended).toBe('ended')
    expect(await contentsOf(fixture)).toEqual(['one?', 'one', 'two?', 'two'])
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'completed' })
  })
})
