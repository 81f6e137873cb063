import { genericInterruptContinuationFromDescriptor, wrapGenericInterruptContinuation } from '@tanstack/ai'
import { describe, expect, it } from 'vitest'
import { eventsOf } from '../../fixtures/chat-fixture.ts'
import { routesFixture } from '../../fixtures/routes-fixture.ts'
import type { RoutesFixture } from '../../fixtures/routes-fixture.ts'

type Pause = Parameters<typeof genericInterruptContinuationFromDescriptor>[0]

interface Hydration {
  activeRun: unknown
  interrupts: { runId: string; pending: Pause[] } | null
}

const policy = { default: 'allow', commands: { ask: ['touch *'] } } as const
const TURNS = [[{ call: 'bash', args: { command: 'touch made && echo made' } }], [{ say: 'over' }]]

interface PausedFixture extends RoutesFixture {
  hydrate: () => Promise<Hydration>
  /** TanStack's client body for an answer to what the thread waits for. */
  answer: (runId: string, pauses: Hydration['interrupts'], response: unknown, other?: object) => Promise<Response>
}

/** A thread whose first run waits for a person. */
async function pausedFixture(): Promise<PausedFixture> {
  const fixture = await routesFixture({ turns: TURNS, definition: { policy } })
  await eventsOf(await fixture.send('run-1'))
  const hydrate = async (): Promise<Hydration> =>
    (await (await fixture.get('/chat?threadId=thread-1')).json()) as Hydration
  const answer: PausedFixture['answer'] = (runId, pauses, payload, other = {}) => {
    const resume = (pauses?.pending ?? []).map((pause) => {
      const continuation = genericInterruptContinuationFromDescriptor(pause)
      const metadata = continuation && wrapGenericInterruptContinuation(continuation)
      return { interruptId: pause.id, status: 'resolved', payload, metadata }
    })
    const ids = { runId, threadId: 'thread-1', parentRunId: pauses?.runId, ...other }
    const rest = { messages: [], tools: [], context: [], state: {}, forwardedProps: {} }
    return fixture.post('/chat', { ...ids, ...rest, resume }, { 'X-Run-Id': runId })
  }
  return { ...fixture, hydrate, answer }
}

async function rolesOf({ stores }: RoutesFixture): Promise<string[]> {
  return (await stores.messages.loadThread('thread-1')).map(({ role }) => role)
}

describe('a run that waits for a person', () => {
  it('is told by the thread, and an approval runs the call once and ends the wait', async () => {
    const f = await pausedFixture()
    const { interrupts } = await f.hydrate()
    expect(interrupts).toMatchObject({ runId: 'run-1', pending: [{ message: expect.any(String) }] })
    const events = await eventsOf(await f.answer('run-2', interrupts, { approved: true }))
    const shown = events.find(({ chunk }) => chunk.type !== 'CUSTOM')?.chunk
    expect(shown, 'who joins is shown the call that waited').toMatchObject({ type: 'MESSAGES_SNAPSHOT' })
    expect(JSON.stringify(shown)).toContain('touch made')
    const results = events.filter(({ chunk }) => chunk.type === 'TOOL_CALL_RESULT')
    expect(results).toHaveLength(1)
    expect(JSON.stringify(results)).toContain('made')
    expect(await f.hydrate()).toMatchObject({ interrupts: null, activeRun: null })
    expect(await rolesOf(f)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(await f.stores.runs.get('run-1')).toMatchObject({ status: 'completed', finishedAt: expect.any(Number) })
  })

  it('takes one answer: a second one is refused and starts nothing', async () => {
    const f = await pausedFixture()
    const { interrupts } = await f.hydrate()
    await eventsOf(await f.answer('run-2', interrupts, { approved: false, reason: 'No.' }))
    const late = await f.answer('run-3', interrupts, { approved: true })
    expect([late.status, await late.json()]).toMatchObject([409, { error: { code: 'INTERRUPT_CONFLICT' } }])
    expect(f.model.seen).toHaveLength(2)
    expect(JSON.stringify(f.model.seen[1])).toContain('refused')
    await eventsOf(await f.answer('run-2', interrupts, { approved: false, reason: 'No.' }))
    expect(f.model.seen).toHaveLength(2)
  })

  it('is given up by a new message, and the model is told that nobody answered', async () => {
    const f = await pausedFixture()
    const { interrupts } = await f.hydrate()
    await eventsOf(await f.send('run-2', 'Something else.'))
    expect(await rolesOf(f)).toEqual(['user', 'assistant', 'tool', 'user', 'assistant'])
    expect(JSON.stringify(f.model.seen[1])).toContain('not approved')
    expect(await f.hydrate()).toMatchObject({ interrupts: null, activeRun: null })
    expect(await f.stores.runs.get('run-1')).toMatchObject({ status: 'aborted' })
    expect((await f.answer('run-3', interrupts, { approved: true })).status).toBe(409)
  })

  it('is ended by a cancel, after which an answer is refused and a message is not', async () => {
    const f = await pausedFixture()
    const { interrupts } = await f.hydrate()
    expect((await f.post('/runs/run-1/cancel', { keepSandbox: true })).status).toBe(202)
    expect(await f.stores.runs.get('run-1')).toMatchObject({ status: 'aborted' })
    expect(await f.hydrate()).toMatchObject({ interrupts: null, activeRun: null })
    expect((await f.answer('run-2', interrupts, { approved: true })).status).toBe(409)
    await eventsOf(await f.send('run-3', 'And now?'))
    expect(await rolesOf(f)).toEqual(['user', 'assistant', 'tool', 'user', 'assistant'])
    expect(JSON.stringify(f.model.seen[1])).toContain('not approved')
  })

  it('is not answered from another thread', async () => {
    const f = await pausedFixture()
    const { interrupts } = await f.hydrate()
    await eventsOf(await f.send('other-1', 'go', 'thread-2'))
    const stranger = { threadId: 'thread-2', parentRunId: 'other-1' }
    await eventsOf(await f.answer('other-2', interrupts, { approved: true }, stranger))
    expect(await f.hydrate()).toMatchObject({ interrupts: { runId: 'run-1' } })
    expect(await f.stores.runs.get('run-1')).toMatchObject({ status: 'interrupted' })
  })
})
