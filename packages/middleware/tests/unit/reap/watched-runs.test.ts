import { describe, expect, it } from 'vitest'
import { reapRuns } from '../../../src/reap/reap-runs.ts'
import { attachRun } from '../../../src/runs/attach-run.ts'
import { DRIVER_LEASE_MS } from '../../../src/runs/heartbeat.ts'
import { otherHost, startChat } from '../../fixtures/chat-fixture.ts'
import { never, reapFixture, startHost } from '../../fixtures/reap-fixture.ts'

const TTL_MS = 10 * DRIVER_LEASE_MS

describe('a run with two viewers', () => {
  it('is not taken for abandoned when one of them leaves, and is when both have', async () => {
    const fixture = reapFixture()
    const { session } = await startHost(fixture, [[{ say: 'a' }, { wait: never }]])
    const viewer = await attachRun({ ...otherHost(fixture), request: new Request('http://x/?runId=run-1&offset=-1') })
    if (session.fence === undefined) throw new Error('The run has no fence.')
    await fixture.stores.drivers.detach(session.fence)
    await fixture.clock.advance(DRIVER_LEASE_MS)
    expect((await fixture.stores.runs.get('run-1'))?.detachedSince).toBeUndefined()
    await fixture.clock.advance(2 * TTL_MS)
    expect((await reapRuns({ ...fixture, detachedTtlMs: TTL_MS })).runs).toEqual([])

    await viewer.body?.cancel()
    await fixture.clock.advance(TTL_MS)
    expect((await reapRuns({ ...fixture, detachedTtlMs: TTL_MS })).runs).toMatchObject([{ outcome: 'expired' }])
  })

  it('is not taken for abandoned while the one who sent it is there', async () => {
    const fixture = reapFixture()
    const { run, stream } = await startChat(fixture, { turns: [[{ say: 'a' }, { wait: never }]] })
    const response = run.respond(stream)
    const other = await attachRun({ ...otherHost(fixture), request: new Request('http://x/?runId=run-1&offset=-1') })
    await fixture.clock.advance(1_000)
    await other.body?.cancel()
    await fixture.clock.advance(1)
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ detachedSince: expect.any(Number) })
    await fixture.clock.advance(TTL_MS)
    expect((await reapRuns({ ...fixture, detachedTtlMs: TTL_MS })).runs).toEqual([])
    await response.body?.cancel()
    await fixture.clock.advance(TTL_MS)
    expect((await reapRuns({ ...fixture, detachedTtlMs: TTL_MS })).runs).toMatchObject([{ outcome: 'expired' }])
  })
})
