import { expect, test } from 'vitest'
import { FakeClock } from '../../../src/clock/fake-clock.ts'
import { call, connect, openDaytona, openSandbox, rejection } from '../../fixtures/daytona-fixture.ts'

test('a wrong key is 401, an expired one too', async () => {
  const { server, daytona } = await openDaytona()
  expect(await rejection(connect(server, { apiKey: 'wrong' }).create())).toMatchObject({
    name: 'DaytonaAuthenticationError',
    statusCode: 401,
  })
  await daytona.create()
  server.revokeKey(server.apiKey)
  expect(await rejection(daytona.create())).toMatchObject({ statusCode: 401 })
})

test('a sandbox of another organization reads as missing, by its toolbox as forbidden', async () => {
  const { server, sandbox } = await openSandbox()
  const other = connect(server, { apiKey: server.addOrganization().apiKey })
  expect(await rejection(other.get(sandbox.id))).toMatchObject({ statusCode: 404 })
  const listed: unknown[] = []
  for await (const item of other.list()) listed.push(item)
  expect(listed).toEqual([])
  const response = await fetch(`${sandbox.toolboxProxyUrl}/${sandbox.id}/work-dir`, {
    headers: { authorization: 'Bearer wrong' },
  })
  expect(response.status).toBe(401)
})

test('a JWT speaks for the organization that its header names', async () => {
  const { server } = await openDaytona()
  const { organizationId, jwtToken } = server.addOrganization()
  const { apiKey: _none, ...config } = { apiKey: undefined, jwtToken, organizationId, apiUrl: server.url, target: 'us' }
  const daytona = connect(server, { ...config, apiKey: '' })
  const sandbox = await daytona.create()
  expect(sandbox.organizationId).toBe(organizationId)
  expect((await sandbox.process.executeCommand('echo in')).result).toBe('in\n')
  expect(await rejection(connect(server, { ...config, apiKey: '', organizationId: 'other' }).create())).toMatchObject({
    statusCode: 401,
  })
})

test('a wrong address gives a web page instead of JSON', async () => {
  const { server } = await openDaytona()
  const response = await fetch(`${server.url.replace('/api', '')}/sandbox`)
  expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
  expect(await response.text()).toContain('<html>')
})

test('limits count per organization, say when to come back, and end with their window', async () => {
  const clock = new FakeClock()
  const { server } = await openDaytona({ clock, rateLimits: { authenticated: { limit: 2, windowMs: 60_000 } } })
  expect((await call(server, 'GET', '/sandbox')).headers.get('x-ratelimit-remaining-authenticated')).toBe('1')
  await clock.advance(20_000)
  await call(server, 'GET', '/sandbox')
  const refused = await call(server, 'GET', '/sandbox')
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('40')
  expect(await rejection(connect(server).get('x'))).toMatchObject({
    name: 'DaytonaRateLimitError',
    headers: { 'retry-after': '40' },
  })
  const other = connect(server, { apiKey: server.addOrganization().apiKey })
  expect(await rejection(other.get('x'))).toMatchObject({ statusCode: 404 })
  await clock.advance(40_000)
  expect((await call(server, 'GET', '/sandbox')).status).toBe(200)
})

test('creates and lifecycle calls have limits of their own, toolbox calls none', async () => {
  const { server, sandbox } = await openSandbox({ rateLimits: { 'sandbox-create': { limit: 1, windowMs: 60_000 } } })
  expect((await call(server, 'POST', '/sandbox', {})).status).toBe(429)
  server.configure({
    rateLimits: { 'sandbox-lifecycle': { limit: 0, windowMs: 60_000 }, authenticated: { limit: 0, windowMs: 1 } },
  })
  expect((await sandbox.process.executeCommand('echo free')).result).toBe('free\n')
  expect((await call(server, 'POST', `/sandbox/${sandbox.id}/stop`)).status).toBe(429)
})

test('repeated wrong keys turn into 429', async () => {
  const { server } = await openDaytona({ rateLimits: { 'failed-auth': { limit: 2, windowMs: 60_000 } } })
  const statuses: number[] = []
  for (let round = 0; round < 3; round += 1) statuses.push((await fetch(`${server.url}/sandbox`)).status)
  expect(statuses).toEqual([401, 401, 429])
})

test('a quota counts what is stopped and not what is archived', async () => {
  const { server, daytona } = await openDaytona({ maxSandboxes: 1 })
  const sandbox = await daytona.create()
  await sandbox.stop()
  expect(await rejection(daytona.create())).toMatchObject({ statusCode: 403 })
  await sandbox.archive()
  await server.settled(sandbox.id)
  await daytona.create()
})

test('an SSH grant replaces the one before, expires, and can be revoked', async () => {
  const clock = new FakeClock()
  const { server, sandbox } = await openSandbox({ clock })
  const first = await sandbox.createSshAccess()
  expect(first).toMatchObject({ sandboxId: sandbox.id, sshCommand: `ssh -p 2222 ${first.token}@127.0.0.1` })
  expect(Date.parse(String(first.expiresAt))).toBe(clock.now() + 60 * 60_000)
  const second = await sandbox.createSshAccess(5)
  expect((await sandbox.validateSshAccess(first.token)).valid).toBe(false)
  expect(await sandbox.validateSshAccess(second.token)).toEqual({ valid: true, sandboxId: sandbox.id })
  expect(server.sshAccessCount(sandbox.id)).toBe(1)
  await clock.advance(5 * 60_000)
  expect((await sandbox.validateSshAccess(second.token)).valid).toBe(false)
  const third = await sandbox.createSshAccess(5)
  await sandbox.revokeSshAccess(third.token)
  expect(server.sshAccessCount(sandbox.id)).toBe(0)
})
