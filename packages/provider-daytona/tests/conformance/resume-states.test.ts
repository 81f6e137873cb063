import { describe, expect, test } from 'vitest'
import { startDaytona } from '../daytona-fixture.ts'
import type { DaytonaFixture } from '../daytona-fixture.ts'

async function withFile(fixture: DaytonaFixture): Promise<string> {
  const sandbox = await fixture.provider.create({ id: 'k', labels: { app: 'x' } })
  await sandbox.fs.write('kept', 'content')
  return sandbox.id
}

async function expectUsable(fixture: DaytonaFixture, id: string): Promise<void> {
  const resumed = await fixture.connect().resume({ id })
  expect(await resumed?.fs.read('kept')).toBe('content')
}

describe('resume', () => {
  test('of a started, a stopped and an archived sandbox gives its files', { timeout: 30_000 }, async () => {
    const fixture = await startDaytona()
    const id = await withFile(fixture)
    await expectUsable(fixture, id)
    await fixture.provider.park?.({ id, mode: 'stop' })
    await expectUsable(fixture, id)
    await fixture.provider.park?.({ id, mode: 'archive' })
    await fixture.server.settled(id)
    await expectUsable(fixture, id)
  })

  test.each(['starting', 'stopping', 'archiving', 'restoring', 'creating', 'snapshotting', 'resizing', 'unknown'])(
    'of a sandbox that is %s waits and then works',
    { timeout: 30_000 },
    async (state) => {
      const fixture = await startDaytona()
      const id = await withFile(fixture)
      await fixture.server.forceState(id, state)
      const settles = setTimeout(() => {
        // A sandbox that is being archived can be started at once.
        if (state === 'archiving') return
        fixture.server.forceState(id, state === 'stopping' ? 'stopped' : 'started').catch(() => undefined)
      }, 300)
      await expectUsable(fixture, id)
      clearTimeout(settles)
    },
  )

  test('of a recoverable error recovers once', async () => {
    const fixture = await startDaytona()
    const id = await withFile(fixture)
    await fixture.server.forceState(id, 'error', { reason: 'disk', recoverable: true })
    await expectUsable(fixture, id)
    expect(fixture.server.requests.count({ route: 'POST /sandbox/:sandbox/recover' })).toBe(1)
  })

  test.each(['error', 'build_failed'])('of state %s rejects with the reason and keeps the sandbox', async (state) => {
    const fixture = await startDaytona()
    const id = await withFile(fixture)
    await fixture.server.forceState(id, state, { reason: 'the runner burned down' })
    const failed = fixture.connect().resume({ id })
    await expect(failed).rejects.toMatchObject({ code: 'PROVIDER_FAILED', details: { state } })
    expect(fixture.server.sandboxes()).toHaveLength(1)
  })

  test('of a destroyed sandbox, and of one that is being destroyed, is null', async () => {
    const fixture = await startDaytona({ transitionMs: { destroying: 300 } })
    const id = await withFile(fixture)
    await fixture.provider.destroy({ id })
    expect(await fixture.connect().resume({ id })).toBeNull()
    await fixture.server.settled(id)
    expect(await fixture.connect().resume({ id })).toBeNull()
  })

  test('of a state that nobody knows is never null and never makes another sandbox', async () => {
    const fixture = await startDaytona({}, { timeoutMs: 1_000 })
    const id = await withFile(fixture)
    await fixture.server.forceState(id, 'defragmenting')
    const failed = fixture.connect().resume({ id })
    await expect(failed).rejects.toMatchObject({ code: 'SANDBOX_UNREACHABLE', retryable: true })
    expect(fixture.server.sandboxes()).toHaveLength(1)
    expect(fixture.server.requests.count({ route: 'POST /sandbox' })).toBe(1)
  })

  test('by five callers at once starts the sandbox once', async () => {
    const fixture = await startDaytona()
    const id = await withFile(fixture)
    await fixture.provider.park?.({ id, mode: 'stop' })
    const other = fixture.connect()
    const handles = await Promise.all([1, 2, 3, 4, 5].map(() => other.resume({ id })))
    for (const handle of handles) expect(await handle?.fs.read('kept')).toBe('content')
    expect(fixture.server.requests.count({ route: 'POST /sandbox/:sandbox/start' })).toBe(1)
  })

  test.each([400, 409])('waits when the service answers %i because a change is in progress', async (status) => {
    const fixture = await startDaytona()
    const id = await withFile(fixture)
    await fixture.provider.park?.({ id, mode: 'stop' })
    const body = { statusCode: status, message: 'Sandbox state change in progress' }
    fixture.server.setFault({ on: 'POST /sandbox/:sandbox/start', effect: { kind: 'status', status, body }, times: 2 })
    await expectUsable(fixture, id)
  })

  test.each([
    ['401', { kind: 'status', status: 401, body: { message: 'no' } } as const, 'PROVIDER_REFUSED'],
    ['403', { kind: 'status', status: 403, body: { message: 'no' } } as const, 'PROVIDER_REFUSED'],
    ['500', { kind: 'status', status: 500 } as const, 'PROVIDER_UNAVAILABLE'],
    ['a web page with 404', { kind: 'html', status: 404 } as const, 'PROVIDER_FAILED'],
    ['a web page with 200', { kind: 'html' } as const, 'PROVIDER_FAILED'],
    ['a rate limit', { kind: 'rate-limit', retryAfterSeconds: 120 } as const, 'PROVIDER_RATE_LIMITED'],
    ['a dropped connection', { kind: 'drop' } as const, 'PROVIDER_UNAVAILABLE'],
    ['no answer at all', { kind: 'hang' } as const, 'PROVIDER_TIMEOUT'],
  ])('after %s rejects and proves no loss', { timeout: 60_000 }, async (_title, effect, code) => {
    const fixture = await startDaytona({}, { livenessTimeoutMs: effect.kind === 'drop' ? 5_000 : 700 })
    const id = await withFile(fixture)
    const undo = fixture.server.setFault({ on: 'GET /sandbox/:sandbox', effect, times: 1_000 })
    await expect(fixture.connect().resume({ id })).rejects.toMatchObject({ code })
    undo()
    await expectUsable(fixture, id)
    expect(fixture.server.sandboxes()).toHaveLength(1)
  })

  test('of a sandbox that stops while it is made ready starts it again', { timeout: 30_000 }, async () => {
    const fixture = await startDaytona()
    const id = await withFile(fixture)
    fixture.server.setFault({ on: 'POST /process/execute', effect: { kind: 'delay', ms: 400 } })
    const resuming = fixture.connect().resume({ id })
    await new Promise((resolve) => setTimeout(resolve, 250))
    await fixture.server.killSandbox(id)
    expect(await (await resuming)?.fs.read('kept')).toBe('content')
  })

  test('an outage that passes is not seen', async () => {
    const fixture = await startDaytona()
    const id = await withFile(fixture)
    fixture.server.setFault({ on: 'GET /sandbox/:sandbox', effect: { kind: 'status', status: 503 }, times: 2 })
    await expectUsable(fixture, id)
    fixture.server.setFault({ on: 'GET /sandbox/:sandbox', effect: { kind: 'rate-limit', retryAfterSeconds: 1 } })
    await expectUsable(fixture, id)
  })
})
