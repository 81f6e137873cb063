import { expect, it } from 'vitest'
import { commandAgent } from '../../../src/agent/command-agent.ts'
import { createChatRoutes } from '../../../src/routes/create-chat-routes.ts'
import { stopRuns } from '../../../src/runs/stop-runs.ts'
import { eventually, printing } from '../../fixtures/agent-fixture.ts'
import { eventsOf, storedChunks, terminalsOf, textOf } from '../../fixtures/chat-fixture.ts'
import { routesFixture } from '../../fixtures/routes-fixture.ts'

it('a host that stops leaves its agent at work, and whoever attaches elsewhere sees all of it once', async () => {
  const model = () => commandAgent({ command: printing(['one', 'two', 'three'], { pauseSeconds: 0.4 }), parse: 'text' })
  const fixture = await routesFixture({ turns: [[]], routes: { model } })
  const response = await fixture.send('run-1')
  expect(response.status).toBe(200)
  await eventually(async () => textOf(await storedChunks(fixture.stores, 'run-1')).includes('one'))
  expect(await stopRuns(fixture.stores)).toBe(0)
  await response.body?.cancel()
  expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'running' })

  const stores = { ...fixture.stores }
  const other = createChatRoutes({ stores, sandbox: fixture.sandbox, model })
  const attached = await other.handle(new Request('http://localhost/api/chat?runId=run-1&offset=-1'))
  const chunks = (await eventsOf(attached)).map(({ chunk }) => chunk)
  expect(textOf(chunks)).toBe('one\ntwo\nthree')
  expect(terminalsOf(chunks)).toEqual(['RUN_FINISHED'])
  expect(await stores.runs.get('run-1')).toMatchObject({ status: 'completed', driverEpoch: 2 })
})
