import { expect, test } from 'vitest'
import { connect, openDaytona, until } from '../../fixtures/daytona-fixture.ts'

test('a change of state wakes a waiting client: it asks twice, not many times', async () => {
  const { server } = await openDaytona({ transitionMs: { stopping: 700 } })
  const daytona = connect(server, { useDeprecatedPolling: false })
  const sandbox = await daytona.create()
  await until('the event channel', () => server.requests.count({ kind: 'events' }) === 1)
  server.requests.clear()
  const startedAt = performance.now()
  await sandbox.stop()
  expect(performance.now() - startedAt).toBeLessThan(1_000)
  expect(server.requests.count({ route: 'GET /sandbox/:sandbox' })).toBeLessThanOrEqual(2)
})

test('events of one organization do not reach another', async () => {
  const { server } = await openDaytona()
  const daytona = connect(server, { useDeprecatedPolling: false })
  const sandbox = await daytona.create()
  const other = await connect(server, { apiKey: server.addOrganization().apiKey, useDeprecatedPolling: false }).create()
  await until('both channels', () => server.requests.count({ kind: 'events' }) === 2)
  await server.forceState(sandbox.id, 'stopped')
  await until('the event', () => sandbox.state === 'stopped')
  expect(other.state).toBe('started')
})

test.each(['refuse', 'silent'] as const)('with the channel set to %s, clients get on by asking', async (events) => {
  const { server } = await openDaytona({ events })
  const daytona = connect(server, { useDeprecatedPolling: false })
  const sandbox = await daytona.create()
  await sandbox.stop()
  expect(sandbox.state).toBe('stopped')
  expect(server.requests.count({ kind: 'events' })).toBe(0)
})

test('a wrong key gets no channel', async () => {
  const { server } = await openDaytona()
  connect(server, { apiKey: 'wrong', useDeprecatedPolling: false })
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect(server.requests.count({ kind: 'events' })).toBe(0)
})
