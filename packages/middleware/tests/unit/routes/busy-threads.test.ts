import { describe, expect, it } from 'vitest'
import { eventsOf, textOf } from '../../fixtures/chat-fixture.ts'
import { gate, settled } from '../../fixtures/gate.ts'
import { routesFixture } from '../../fixtures/routes-fixture.ts'
import type { RoutesFixture } from '../../fixtures/routes-fixture.ts'
import type { Gate } from '../../fixtures/gate.ts'

const words = async (response: Response): Promise<string> =>
  textOf((await eventsOf(response)).map((event) => event.chunk))

async function busyFixture(whenBusy: 'queue' | 'cancel-previous'): Promise<RoutesFixture & { held: Gate }> {
  const held = gate()
  const wait = (signal: AbortSignal | undefined): Promise<void> =>
    Promise.race([held.opened, new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()))])
  const turns = [[{ say: 'first' }, { wait }], [{ say: 'later' }]]
  return { ...(await routesFixture({ turns, routes: { whenBusy } })), held }
}

describe('a send to a busy thread', () => {
  it('in queue mode is answered at once and shows its run when its turn has come', async () => {
    const { send, get, held, stores } = await busyFixture('queue')
    const first = await send('run-1')
    const second = await send('run-2', 'two')
    const third = await send('run-3', 'three')
    expect(await stores.runs.get('run-2')).toBeNull()
    const joined = await get('/chat?runId=run-3&offset=-1')
    expect((await get('/chat?runId=run-9&offset=-1')).status).toBe(404)
    held.open()
    expect(await words(first)).toBe('first')
    expect(await words(second)).toBe('later')
    expect(await words(third)).toBe('later')
    expect(await words(joined)).toBe('later')
    const transcript = await stores.messages.loadThread('thread-1')
    expect(transcript.map((message) => message.content)).toEqual(['hello', 'first', 'two', 'later', 'three', 'later'])
  })

  it('in queue mode can be cancelled by its tenant while it waits', async () => {
    const { send, post, held, stores } = await busyFixture('queue')
    const first = await send('run-1')
    const second = await send('run-2', 'two')
    expect((await post('/runs/run-2/cancel')).status).toBe(202)
    const events = await eventsOf(second)
    expect(events.map((event) => event.chunk)).toMatchObject([{ type: 'RUN_ERROR', code: 'RUN_CANCELLED' }])
    held.open()
    await words(first)
    expect(await stores.runs.get('run-2')).toMatchObject({ status: 'aborted', finishedAt: expect.any(Number) })
    expect((await post('/runs/run-2/cancel')).status).toBe(200)
  })

  it('in queue mode ends with the error that keeps it from beginning', async () => {
    const { send, post, held } = await busyFixture('queue')
    const first = await send('run-1')
    const body = { runId: 'run-2', threadId: 'thread-1', messages: [], tools: [], context: [], state: {} }
    const second = await post('/chat', { ...body, forwardedProps: {} }, { 'X-Run-Id': 'run-2' })
    held.open()
    await words(first)
    const events = (await eventsOf(second)).map((event) => event.chunk)
    expect(events).toMatchObject([{ type: 'RUN_ERROR', code: 'INVALID_ARGUMENT' }])
  })

  it('in queue mode is refused with 429 when too many wait', async () => {
    const { send, held, stores } = await busyFixture('queue')
    const first = await send('run-1')
    const waiting = Array.from({ length: 100 }, (_, index) => ({ runId: `waits-${index}`, seenAt: Date.now() }))
    await stores.metadata.set('holdfast-queue', 'thread-1', waiting)
    const refused = await send('run-2', 'two')
    expect([refused.status, await refused.json()]).toMatchObject([429, { error: { code: 'LIMIT_EXCEEDED' } }])
    expect(await stores.metadata.get('holdfast-queue', 'thread-1')).toEqual(waiting)
    await stores.metadata.delete('holdfast-queue', 'thread-1')
    held.open()
    expect(await words(first)).toBe('first')
  })

  it('in queue mode is gone with its thread', async () => {
    const { send, remove, stores } = await busyFixture('queue')
    const first = await send('run-1')
    const second = await send('run-2', 'two')
    expect((await remove('/threads/thread-1')).status).toBe(204)
    await first.body?.cancel()
    await second.body?.cancel()
    expect(await stores.metadata.get('holdfast-queue', 'thread-1')).toBeNull()
    expect(await stores.messages.loadThread('thread-1')).toEqual([])
  })

  it('in cancel-previous mode ends the run before it', async () => {
    const { send, stores, model } = await busyFixture('cancel-previous')
    const first = await send('run-1')
    while (model.seen.length === 0) await settled(5)
    const second = await send('run-2', 'no, this')
    expect(await words(second)).toBe('later')
    await words(first)
    expect(await stores.runs.get('run-1')).toMatchObject({ status: 'aborted' })
    expect(await stores.runs.get('run-2')).toMatchObject({ status: 'completed' })
  })
})
