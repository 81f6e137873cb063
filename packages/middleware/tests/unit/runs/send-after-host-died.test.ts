import { expect, it } from 'vitest'
import { createChatRoutes } from '../../../src/routes/create-chat-routes.ts'
import { beginRun } from '../../../src/runs/begin-run.ts'
import { findSession } from '../../../src/runs/session-registry.ts'
import {
  agentDriver,
  agentFixture,
  bury,
  eventually,
  printing,
  sandboxOf,
  startAgent,
} from '../../fixtures/agent-fixture.ts'
import { chatRequest, eventsOf, otherHost, storedChunks, terminalsOf, textOf } from '../../fixtures/chat-fixture.ts'
import { deadHost, driverFor, reapFixture } from '../../fixtures/reap-fixture.ts'
import { chatBody } from '../../fixtures/routes-fixture.ts'
import { scriptedModel } from '../../fixtures/scripted-model.ts'

it('a send takes over the run of a dead host that holds its thread, and is refused while that goes on', async () => {
  const fixture = reapFixture()
  await deadHost(fixture)
  const driver = driverFor(fixture, [[{ say: 'whole' }]])
  const sent = beginRun({ ...fixture, chat: chatRequest('run-2', 'more'), driver })
  await expect(sent).rejects.toMatchObject({ code: 'THREAD_BUSY', details: { activeRunId: 'run-1' } })
  expect(await fixture.stores.runs.get('run-2')).toBeNull()
  await findSession(fixture.stores, 'run-1')?.ended
  expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'completed', driverEpoch: 2 })
  const next = await beginRun({ ...fixture, chat: chatRequest('run-3', 'more'), driver })
  expect(next.runId).toBe('run-3')
})

it('a run of a dead host that cannot go on is settled, and the send begins', async () => {
  const fixture = reapFixture()
  await deadHost(fixture)
  await fixture.stores.drivers.requestCancel({ runId: 'run-1' })
  const driver = driverFor(fixture, [[{ say: 'whole' }]])
  const next = await beginRun({ ...fixture, chat: chatRequest('run-2', 'more'), driver })
  expect(next.runId).toBe('run-2')
  expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'aborted' })
})

it('cancel-previous ends the run of a dead host as cancelled, not as failed', async () => {
  const fixture = reapFixture()
  await deadHost(fixture)
  const driver = driverFor(fixture, [[{ say: 'again' }, { wait: (signal) => aborted(signal) }]])
  const sent = beginRun({ ...fixture, chat: chatRequest('run-2', 'more'), driver, whenBusy: 'cancel-previous' })
  let isBegun = false
  void sent.then(() => (isBegun = true))
  await eventually(async () => {
    await fixture.clock.advance(50)
    return isBegun
  })
  expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'aborted' })
})

it('a send finds the command of a dead host at work, and all that it prints is told once', async () => {
  const lines = ['one', 'two', 'three', 'four']
  const fixture = await agentFixture({ command: printing(lines, { pauseSeconds: 0.3 }), parse: 'text' })
  const started = await startAgent(fixture)
  await eventually(async () => textOf(await storedChunks(fixture.stores, 'run-1')).includes('one'))
  await bury(started)
  const host = otherHost(fixture)
  const sent = beginRun({ ...host, chat: chatRequest('run-2', 'more'), driver: agentDriver(fixture, host.stores) })
  await expect(sent).rejects.toMatchObject({ code: 'THREAD_BUSY' })
  await findSession(host.stores, 'run-1')?.ended
  const chunks = await storedChunks(fixture.stores, 'run-1')
  expect(textOf(chunks)).toBe(lines.join('\n'))
  expect(terminalsOf(chunks)).toEqual(['RUN_FINISHED'])
  expect(await (await sandboxOf(fixture))?.fs.read('runs.log')).toBe('ran\n')
})

it('the routes refuse such a send with 409, and whoever joins sees the run to its end', async () => {
  const fixture = reapFixture()
  await deadHost(fixture)
  const model = scriptedModel([[{ say: 'whole' }]])
  const { stores, sandbox, clock } = fixture
  const send = (routes: ReturnType<typeof createChatRoutes>, runId: string): Promise<Response> => {
    const body = JSON.stringify(chatBody(runId, 'more', 'thread-1'))
    return routes.handle(new Request('http://localhost/api/chat', { method: 'POST', body }))
  }
  const routes = createChatRoutes({ stores, sandbox, clock, model: () => model.adapter })
  const refused = await send(routes, 'run-2')
  expect(refused.status).toBe(409)
  expect(await refused.json()).toMatchObject({ error: { code: 'THREAD_BUSY' } })
  const joined = await routes.handle(new Request('http://localhost/api/chat?runId=run-1&offset=-1'))
  const chunks = (await eventsOf(joined)).map(({ chunk }) => chunk)
  expect(terminalsOf(chunks)).toEqual(['RUN_FINISHED'])
  expect(textOf(chunks.slice(chunks.findLastIndex(({ type }) => type === 'MESSAGES_SNAPSHOT')))).toBe('whole')
})

it('the routes settle it where runs are not to be taken over', async () => {
  const fixture = reapFixture()
  await deadHost(fixture)
  const model = scriptedModel([[{ say: 'new' }]])
  const { stores, sandbox, clock } = fixture
  const routes = createChatRoutes({ stores, sandbox, clock, model: () => model.adapter, takeOver: false })
  const body = JSON.stringify(chatBody('run-2', 'more', 'thread-1'))
  const response = await routes.handle(new Request('http://localhost/api/chat', { method: 'POST', body }))
  expect(response.status).toBe(200)
  await response.text()
  expect(await stores.runs.get('run-1')).toMatchObject({ status: 'failed', error: { code: 'HOST_LOST' } })
})

function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => signal?.addEventListener('abort', () => resolve()))
}
