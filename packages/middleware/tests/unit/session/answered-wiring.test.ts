import { genericInterruptContinuationFromDescriptor, wrapGenericInterruptContinuation } from '@tanstack/ai'
import { describe, expect, it } from 'vitest'
import { hydrateThread } from '../../../src/persistence/hydrate-thread.ts'
import { eventsOf, storedChunks, terminalsOf } from '../../fixtures/chat-fixture.ts'
import { ownWiring, send } from '../../fixtures/own-wiring-fixture.ts'
import type { OwnWiring, Send } from '../../fixtures/own-wiring-fixture.ts'

type Pause = Parameters<typeof genericInterruptContinuationFromDescriptor>[0]

const policy = { default: 'allow', commands: { ask: ['touch *'] } } as const
const TURNS = [[{ call: 'bash', args: { command: 'touch made && echo made' } }], [{ say: 'over' }]]

/** What TanStack's client sends as an answer to all that the thread waits for. */
async function answers({ stores }: OwnWiring, payload: unknown): Promise<NonNullable<Send['answered']>> {
  const pending = ((await hydrateThread(stores, 'thread-1')).interrupts?.pending ?? []) as Pause[]
  const resume = pending.map((pause) => {
    const continuation = genericInterruptContinuationFromDescriptor(pause)
    const metadata = continuation && wrapGenericInterruptContinuation(continuation)
    return { interruptId: pause.id, status: 'resolved', payload, metadata }
  })
  return { parentRunId: 'run-1', resume }
}

async function paused(): Promise<OwnWiring> {
  const app = await ownWiring({ policy })
  await eventsOf(send(app, { turns: TURNS }).response)
  return app
}

describe('a chat with TanStack’s own wiring that waits for a person', () => {
  it('is paused with a closed log, and an approval runs the call once and ends the wait', async () => {
    const app = await paused()
    expect(await app.stores.runs.get('run-1')).toMatchObject({ status: 'interrupted' })
    expect(await app.stores.eventLog.find('run-1')).toMatchObject({ isClosed: true })
    expect(terminalsOf(await storedChunks(app.stores, 'run-1'))).toEqual(['RUN_FINISHED'])
    const answered = await answers(app, { approved: true })
    expect(answered.resume).toHaveLength(1)
    const sent = send(app, { turns: TURNS.slice(1), runId: 'run-2', messages: [], answered })
    const chunks = (await eventsOf(sent.response)).map(({ chunk }) => chunk)
    expect(chunks.filter(({ type }) => type === 'TOOL_CALL_RESULT')).toHaveLength(1)
    expect(await app.stores.runs.get('run-1')).toMatchObject({ status: 'completed' })
    expect(await app.stores.runs.get('run-2')).toMatchObject({ status: 'completed', driverEpoch: 1 })
    const roles = (await app.stores.messages.loadThread('thread-1')).map(({ role }) => role)
    expect(roles).toEqual(['user', 'assistant', 'tool', 'assistant'])
    const joined = (await storedChunks(app.stores, 'run-2')).find(({ type }) => type !== 'CUSTOM')
    expect(JSON.stringify(joined), 'who joins is shown the call that waited').toContain('touch made')
  })

  it('takes one answer: a second one starts nothing and changes nothing', async () => {
    const app = await paused()
    const answered = await answers(app, { approved: false, reason: 'No.' })
    await eventsOf(send(app, { turns: TURNS.slice(1), runId: 'run-2', messages: [], answered }).response)
    const stored = await app.stores.messages.loadThread('thread-1')
    const late = send(app, { turns: TURNS.slice(1), runId: 'run-3', messages: [], answered })
    expect(await late.response.text()).toContain('INTERRUPT_CONFLICT')
    expect(late.model.seen).toEqual([])
    expect(await app.stores.messages.loadThread('thread-1')).toEqual(stored)
    expect(await app.stores.runs.get('run-3')).toMatchObject({ status: 'failed' })
  })

  it('is given up by a new message', async () => {
    const app = await paused()
    const messages = [{ role: 'user' as const, content: 'Something else.' }]
    const sent = send(app, { turns: TURNS.slice(1), runId: 'run-2', messages })
    await eventsOf(sent.response)
    expect(JSON.stringify(sent.model.seen[0])).toContain('not approved')
    expect(await hydrateThread(app.stores, 'thread-1')).toMatchObject({ interrupts: null, activeRun: null })
    expect(await app.stores.runs.get('run-1')).toMatchObject({ status: 'aborted' })
  })

  it('stays as it is when a send has neither a message nor an answer, which fails', async () => {
    const app = await paused()
    const sent = send(app, { turns: TURNS.slice(1), runId: 'run-2', messages: [] })
    expect(await sent.response.text()).toContain('INVALID_ARGUMENT')
    expect(sent.model.seen).toEqual([])
    expect(await app.stores.runs.get('run-2')).toMatchObject({ status: 'failed' })
    expect((await answers(app, {})).resume).toHaveLength(1)
  })
})
