import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { FakeClock } from '../../../src/clock/fake-clock.ts'
import { openSandbox, until } from '../../fixtures/daytona-fixture.ts'

const MINUTE_MS = 60_000
/** The service looks every ten seconds. */
const LOOK_MS = 10_000

test('a sandbox that no client touches stops after its interval, is archived, and is deleted', async () => {
  const clock = new FakeClock()
  const { server, sandbox } = await openSandbox({ clock })
  await sandbox.setAutoArchiveInterval(60)
  await sandbox.setAutoDeleteInterval(120)
  await clock.advance(14 * MINUTE_MS)
  expect(server.sandboxes()).toMatchObject([{ state: 'started' }])
  await clock.advance(MINUTE_MS + LOOK_MS)
  await server.settled(sandbox.id)
  expect(server.sandboxes()).toMatchObject([{ state: 'stopped' }])
  await clock.advance(60 * MINUTE_MS + LOOK_MS)
  await server.settled(sandbox.id)
  expect(server.sandboxes()).toMatchObject([{ state: 'archived' }])
  // The clock starts again with every change of state.
  await clock.advance(119 * MINUTE_MS)
  expect(server.sandboxes()).toMatchObject([{ state: 'archived' }])
  await clock.advance(MINUTE_MS + LOOK_MS)
  await server.settled(sandbox.id)
  expect(server.sandboxes()).toEqual([])
})

test('toolbox calls keep it awake; control calls and work inside do not', async () => {
  const clock = new FakeClock()
  const { server, daytona, sandbox } = await openSandbox({ clock })
  await clock.advance(10 * MINUTE_MS)
  await sandbox.process.createSession('s')
  await sandbox.process.executeSessionCommand('s', { command: 'sleep 60', runAsync: true })
  const awakeSince = clock.now()
  expect(server.sandboxes()).toMatchObject([{ state: 'started', lastActivityAt: awakeSince }])
  await clock.advance(10 * MINUTE_MS)
  await sandbox.refreshData()
  await daytona.get(sandbox.id)
  await sandbox.setLabels({ touched: 'yes' })
  expect(server.sandboxes()).toMatchObject([{ state: 'started', lastActivityAt: awakeSince }])
  await clock.advance(5 * MINUTE_MS + LOOK_MS)
  await server.settled(sandbox.id)
  expect(server.sandboxes()).toMatchObject([{ state: 'stopped' }])
})

test('refreshActivity keeps it awake', async () => {
  const clock = new FakeClock()
  const { server, sandbox } = await openSandbox({ clock })
  for (let round = 0; round < 3; round += 1) {
    await clock.advance(14 * MINUTE_MS)
    await sandbox.refreshActivity()
  }
  expect(server.sandboxes()).toMatchObject([{ state: 'started' }])
})

test('notes of activity are throttled', async () => {
  const clock = new FakeClock()
  const { server, sandbox } = await openSandbox({ clock })
  await sandbox.getWorkDir()
  const first = clock.now()
  await clock.advance(44_000)
  await sandbox.getWorkDir()
  expect(server.sandboxes()).toMatchObject([{ lastActivityAt: first }])
  await clock.advance(1_000)
  await sandbox.getWorkDir()
  expect(server.sandboxes()).toMatchObject([{ lastActivityAt: clock.now() }])
})

test('a request can ask not to count', async () => {
  const clock = new FakeClock()
  const { server, sandbox } = await openSandbox({ clock })
  await clock.advance(5 * MINUTE_MS)
  await fetch(`${sandbox.toolboxProxyUrl}/${sandbox.id}/work-dir`, {
    headers: { authorization: `Bearer ${server.apiKey}`, 'x-daytona-skip-last-activity-update': 'true' },
  })
  expect(server.sandboxes()[0]?.lastActivityAt).toBeLessThan(clock.now() - 4 * MINUTE_MS)
})

test('an open log stream keeps it awake until it closes', async () => {
  const clock = new FakeClock()
  const { server, sandbox } = await openSandbox({ clock })
  await sandbox.process.createSession('s')
  const { cmdId } = await sandbox.process.executeSessionCommand('s', { command: 'sleep 60', runAsync: true })
  const url = `${sandbox.toolboxProxyUrl}/${sandbox.id}/process/session/s/command/${cmdId}/logs?follow=true`
  const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers: { authorization: `Bearer ${server.apiKey}` } })
  await new Promise((resolve) => socket.once('open', resolve))
  await clock.advance(40 * MINUTE_MS)
  expect(server.sandboxes()).toMatchObject([{ state: 'started' }])
  const timers = clock.pending
  socket.close()
  await until('the server to see the close', () => clock.pending < timers)
  await clock.advance(16 * MINUTE_MS)
  await server.settled(sandbox.id)
  expect(server.sandboxes()).toMatchObject([{ state: 'stopped' }])
})

test('an idle ephemeral sandbox is deleted; an interval of 0 never stops one', async () => {
  const clock = new FakeClock()
  const { server, daytona, sandbox } = await openSandbox({ clock })
  await sandbox.setAutostopInterval(0)
  const ephemeral = await daytona.create({ ephemeral: true, autoStopInterval: 1 })
  await clock.advance(24 * 60 * MINUTE_MS)
  await server.settled(ephemeral.id)
  expect(server.sandboxes()).toMatchObject([{ sandboxId: sandbox.id, state: 'started' }])
})

test('a time to live ends a sandbox whatever it does', async () => {
  const clock = new FakeClock()
  const { server, sandbox } = await openSandbox({ clock })
  await sandbox.setTtl(5)
  await sandbox.refreshData()
  expect(Date.parse(sandbox.autoDestroyAt ?? '')).toBe(clock.now() + 5 * MINUTE_MS)
  await clock.advance(5 * MINUTE_MS + LOOK_MS)
  await server.settled(sandbox.id)
  expect(server.sandboxes()).toEqual([])
})

test('a transition that takes too long ends in an error', async () => {
  const clock = new FakeClock()
  const { server, daytona, sandbox } = await openSandbox({
    clock,
    transitionMs: { starting: Number.POSITIVE_INFINITY },
  })
  await sandbox.stop()
  const start = sandbox.start(30).catch((error: Error) => error)
  await until('the start to begin', () => server.sandboxes()[0]?.state === 'starting')
  await clock.advance(5 * MINUTE_MS + LOOK_MS)
  expect((await daytona.get(sandbox.id)).state).toBe('error')
  expect(await start).toMatchObject({ message: expect.stringContaining('Timeout while starting') })
})
