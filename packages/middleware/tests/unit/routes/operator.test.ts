import { describe, expect, it } from 'vitest'
import type { ReapReport } from '../../../src/reap/reap-outcome.ts'
import type { RunDescription } from '../../../src/operator/describe-runs.ts'
import type { ChatRoutesOptions } from '../../../src/routes/chat-routes-options.ts'
import { eventsOf } from '../../fixtures/chat-fixture.ts'
import { routesFixture } from '../../fixtures/routes-fixture.ts'

const SECRET = { Authorization: 'Bearer schedule' }

/** A user is whoever the request says; only the schedule is an operator. */
const authorize: ChatRoutesOptions['authorize'] = (request) => {
  if (request.headers.get('Authorization') === 'Bearer schedule') return { isOperator: true }
  const userId = request.headers.get('X-User')
  return userId === null ? null : { userId }
}

describe('operator routes', () => {
  it('refuse whoever the app does not call an operator', async () => {
    const { get, post } = await routesFixture({ turns: [[]], routes: { authorize } })
    expect((await post('/reap')).status).toBe(403)
    expect((await post('/reap', undefined, { 'X-User': 'ann' })).status).toBe(403)
    expect((await get('/operator/runs', { 'X-User': 'ann' })).status).toBe(403)
    expect((await get('/reap', SECRET)).status).toBe(405)
  })

  it('list the runs of all tenants with driver, lease and sandbox', async () => {
    const { get, send, stores } = await routesFixture({ turns: [[{ say: 'hi' }]], routes: { authorize } })
    await eventsOf(await send('run-1', 'hello', 'thread-1', { 'X-User': 'ann' }))
    await stores.drivers.claim({ runId: 'run-2', threadId: 'thread-2', owner: 'dead:1:x', ttlMs: 0 })
    await stores.runs.createOrResume({ runId: 'run-3', threadId: 'thread-3', startedAt: 1 })
    const { runs } = (await (await get('/operator/runs', SECRET)).json()) as { runs: RunDescription[] }
    const of = (runId: string): RunDescription | undefined => runs.find((run) => run.runId === runId)
    expect(of('run-1')).toMatchObject({
      ownerId: '[null,"ann"]',
      isOrphaned: false,
      driver: { epoch: 1, isLive: false },
      sandboxes: [{ provider: 'process', state: 'ready' }],
    })
    expect(of('run-2')).toMatchObject({ isOrphaned: true, ownerId: null, sandboxes: [], driver: { owner: 'dead:1:x' } })
    expect(of('run-3')).toMatchObject({ isOrphaned: false, driver: null })
    const running = (await (await get('/operator/runs?status=running&limit=1', SECRET)).json()) as typeof of & {
      runs: RunDescription[]
    }
    expect(running.runs.map((run) => run.runId)).toEqual(['run-2'])
    expect((await get('/operator/runs?limit=0', SECRET)).status).toBe(400)
  })

  it('reap for a schedule, and say what was done', async () => {
    const { post, stores } = await routesFixture({
      turns: [[{ say: 'again' }]],
      routes: { authorize, limits: { maxDetachedMs: 1_000 } },
    })
    const { epoch } = await stores.drivers.claim({ runId: 'run-1', threadId: 'thread-1', owner: 'x', ttlMs: 0 })
    await stores.drivers.detach({ runId: 'run-1', epoch })
    await stores.runs.update('run-1', { detachedSince: Date.now() - 60_000 })
    const report = (await (await post('/reap', undefined, SECRET)).json()) as ReapReport
    expect(report).toEqual({
      runs: [{ runId: 'run-1', threadId: 'thread-1', outcome: 'expired' }],
      sandboxes: [],
      journals: [],
      errors: [],
    })
    expect(await stores.runs.get('run-1')).toMatchObject({ status: 'aborted' })
  })
})
