import { describe, expect, test } from 'vitest'
import { call, connect, openDaytona, openSandbox, rejection } from '../../fixtures/daytona-fixture.ts'

const EXECUTE = 'POST /process/execute'

test('a lost reply means that the work was done', async () => {
  const { server, daytona } = await openDaytona()
  server.setFault({ on: 'POST /sandbox', effect: { kind: 'lost-reply' } })
  expect(await rejection(daytona.create({ name: 'orphan' }))).toMatchObject({ name: 'DaytonaConnectionError' })
  expect(server.sandboxes()).toMatchObject([{ name: 'orphan', state: 'started' }])
  expect((await daytona.get('orphan')).state).toBe('started')
})

test('a drop means that it was not', async () => {
  const { server, daytona } = await openDaytona()
  server.setFault({ on: 'POST /sandbox', effect: { kind: 'drop' } })
  expect(await rejection(daytona.create())).toMatchObject({ name: 'DaytonaConnectionError' })
  expect(server.sandboxes()).toEqual([])
  expect(server.requests.count({ route: 'POST /sandbox' })).toBe(1)
})

test('a read that is dropped twice is tried a third time by the client', async () => {
  const { server, daytona, sandbox } = await openSandbox()
  server.requests.clear()
  server.setFault({ on: 'GET /sandbox/:sandbox', effect: { kind: 'drop' }, times: 2 })
  expect((await daytona.get(sandbox.id)).id).toBe(sandbox.id)
  expect(server.requests.count({ route: 'GET /sandbox/:sandbox' })).toBe(3)
})

test('a server that accepts and never answers runs into the deadline, with or without the work', async () => {
  const { server, sandbox } = await openSandbox()
  const impatient = await connect(server, { requestTimeoutMs: 300 }).get(sandbox.id)
  server.setFault({ on: EXECUTE, effect: { kind: 'hang' } })
  expect(await rejection(impatient.process.executeCommand('touch a'))).toMatchObject({
    name: 'DaytonaConnectionTimeoutError',
  })
  server.setFault({ on: EXECUTE, effect: { kind: 'hang', afterWork: true } })
  expect(await rejection(impatient.process.executeCommand('touch b'))).toMatchObject({
    name: 'DaytonaConnectionTimeoutError',
  })
  expect((await sandbox.process.executeCommand('ls')).result).toBe('b\n')
})

describe('a planned answer', () => {
  test.each([
    [{ kind: 'status', status: 503 } as const, { name: 'DaytonaServiceUnavailableError' }],
    [{ kind: 'status', status: 404 } as const, { statusCode: 404, message: 'Request failed with status code 404' }],
    [
      { kind: 'status', status: 404, body: { message: 'no', code: 'NEW_CODE', source: 'DAYTONA_DAEMON' } } as const,
      { code: 'NEW_CODE' },
    ],
    [
      { kind: 'html', status: 502 } as const,
      { name: 'DaytonaBadGatewayError', message: expect.stringContaining('<html>') },
    ],
    [{ kind: 'rate-limit', retryAfterSeconds: 7 } as const, { statusCode: 429, headers: { 'retry-after': '7' } }],
    [{ kind: 'status', status: 418 } as const, { name: 'DaytonaError', statusCode: 418 }],
  ])('%o', async (effect, expected) => {
    const { server, sandbox } = await openSandbox()
    server.setFault({ on: EXECUTE, effect })
    expect(await rejection(sandbox.process.executeCommand('touch done'))).toMatchObject(expected)
    expect((await sandbox.process.executeCommand('ls')).result).toBe('')
  })
})

test('a proxy can fail while the sandbox counts as started', async () => {
  const { server, daytona, sandbox } = await openSandbox()
  const stop = server.setFault({
    on: /^(GET|POST|DELETE) \/(process|files|work-dir)/,
    effect: { kind: 'status', status: 502 },
    times: 99,
  })
  expect(await rejection(sandbox.getWorkDir())).toMatchObject({ statusCode: 502 })
  expect((await daytona.get(sandbox.id)).state).toBe('started')
  stop()
  await sandbox.getWorkDir()
})

test('a fault can skip, repeat, and be meant for one sandbox', async () => {
  const { server, daytona, sandbox } = await openSandbox()
  const other = await daytona.create()
  server.setFault({ on: EXECUTE, effect: { kind: 'status', status: 500 }, skip: 1, times: 2, sandboxId: sandbox.id })
  const statuses: (number | undefined)[] = []
  for (let round = 0; round < 4; round += 1) {
    await other.process.executeCommand('true')
    const outcome = await sandbox.process.executeCommand('true').catch((error: { statusCode?: number }) => error)
    statuses.push('statusCode' in outcome ? outcome.statusCode : 200)
  }
  expect(statuses).toEqual([200, 500, 500, 200])
})

test('a container can die under a request: its processes end and the sandbox is stopped', async () => {
  const { server, daytona, sandbox } = await openSandbox()
  server.setFault({ on: EXECUTE, effect: { kind: 'kill-sandbox', afterMs: 100 } })
  expect(await rejection(sandbox.process.executeCommand('sleep 30'))).toMatchObject({ statusCode: 502 })
  await server.settled(sandbox.id)
  expect(await daytona.get(sandbox.id)).toMatchObject({ state: 'stopped', desiredState: 'stopped' })
})

test('latency is added to every answer', async () => {
  const { server } = await openDaytona({ latencyMs: 60 })
  const startedAt = performance.now()
  await call(server, 'GET', '/sandbox')
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(59)
})

test('a seed repeats its random faults', async () => {
  const outcomes = async (seed: number): Promise<string> => {
    const { server } = await openDaytona({ seed, randomFaults: { rate: 0.5 } })
    let text = ''
    for (let round = 0; round < 24; round += 1) {
      const response = await call(server, 'GET', '/sandbox').catch(() => undefined)
      text += `${response?.status ?? 'x'} `
    }
    return text
  }
  const first = await outcomes(7)
  expect(first).toContain('200')
  expect(first).toContain('x')
  expect(await outcomes(7)).toBe(first)
  expect(await outcomes(8)).not.toBe(first)
})

test('random faults leave out what they are told to', async () => {
  const { server } = await openDaytona({ randomFaults: { rate: 1, kinds: ['server-error'], except: ['GET /sandbox'] } })
  expect((await call(server, 'GET', '/sandbox')).status).toBe(200)
  expect((await call(server, 'GET', '/snapshots')).status).toBeGreaterThanOrEqual(500)
  server.clearFaults()
  expect((await call(server, 'GET', '/snapshots')).status).toBe(200)
})

test('the log of requests names each route and its outcome', async () => {
  const { server, sandbox } = await openSandbox()
  server.requests.clear()
  await sandbox.process.executeCommand('true')
  await rejection(sandbox.fs.getFileDetails('none'))
  expect(server.requests.list()).toMatchObject([
    { kind: 'toolbox', method: 'POST', route: EXECUTE, status: 200, sandboxId: sandbox.id },
    {
      kind: 'toolbox',
      method: 'GET',
      route: 'GET /files/info',
      path: expect.stringContaining('path=none'),
      status: 404,
    },
  ])
  expect(server.requests.count()).toBe(2)
  expect(server.requests.count({ kind: 'control' })).toBe(0)
})
