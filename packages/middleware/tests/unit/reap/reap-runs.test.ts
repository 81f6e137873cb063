import { describe, expect, it } from 'vitest'
import { reapRuns } from '../../../src/reap/reap-runs.ts'
import { DRIVER_LEASE_MS } from '../../../src/runs/heartbeat.ts'
import { cancelRun } from '../../../src/runs/cancel-run.ts'
import { findSession } from '../../../src/runs/session-registry.ts'
import { storedChunks, terminalsOf } from '../../fixtures/chat-fixture.ts'
import { settled } from '../../fixtures/gate.ts'
import { deadHost, driverFor, never, reapFixture, startHost } from '../../fixtures/reap-fixture.ts'
import type { ReapFixture } from '../../fixtures/reap-fixture.ts'

const TTL_MS = 60 * 60_000

const reap = (fixture: ReapFixture, options: Partial<Parameters<typeof reapRuns>[0]> = {}) =>
  reapRuns({ ...fixture, detachedTtlMs: TTL_MS, ...options })

const outcomes = (report: Awaited<ReturnType<typeof reapRuns>>): string[] =>
  report.runs.map(({ runId, outcome }) => `${runId} ${outcome}`)

describe('reapRuns', () => {
  it('refuses wrong arguments and finds nothing in empty stores', async () => {
    const fixture = reapFixture()
    await expect(reap(fixture, { detachedTtlMs: -1 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    await expect(reap(fixture, { limit: 0 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(await reap(fixture)).toEqual({ runs: [], sandboxes: [], journals: [], errors: [] })
  })

  it('leaves a run alone that is watched and driven', async () => {
    const fixture = reapFixture()
    await startHost(fixture, [[{ wait: never }]])
    expect(await reap(fixture)).toEqual({ runs: [], sandboxes: [], journals: [], errors: [] })
  })

  it('settles a run whose host died and was never detached, once', async () => {
    const fixture = reapFixture()
    await deadHost(fixture)
    expect(outcomes(await reap(fixture))).toEqual(['run-1 settled'])
    expect(outcomes(await reap(fixture))).toEqual([])
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'failed', error: { code: 'HOST_LOST' } })
    expect(terminalsOf(await storedChunks(fixture.stores, 'run-1'))).toEqual(['RUN_ERROR'])
    expect(await fixture.sandboxIds()).toHaveLength(1)
  })

  it('continues a run whose host died, with a driver, in the same sandbox', async () => {
    const fixture = reapFixture()
    await deadHost(fixture)
    const driver = driverFor(fixture, [[{ say: 'whole' }]])
    expect(outcomes(await reap(fixture, { driver }))).toEqual(['run-1 taken-over'])
    await findSession(fixture.stores, 'run-1')?.ended
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'completed', driverEpoch: 2 })
    expect(await fixture.sandboxIds()).toHaveLength(1)
  })

  it('gives each run to one of two hosts that reap at once', async () => {
    const fixture = reapFixture()
    await deadHost(fixture)
    const hosts = [fixture, { ...fixture, stores: { ...fixture.stores } }]
    const reports = await Promise.all(hosts.map((host) => reap(host)))
    expect(reports.flatMap(outcomes).toSorted()).toContain('run-1 settled')
    expect(reports.flatMap(outcomes).filter((line) => line.endsWith('settled'))).toHaveLength(1)
    expect(terminalsOf(await storedChunks(fixture.stores, 'run-1'))).toEqual(['RUN_ERROR'])
  })

  it('waits out the grace before it takes a host for dead', async () => {
    const fixture = reapFixture()
    await deadHost(fixture)
    expect(outcomes(await reap(fixture, { graceMs: 10_000 }))).toEqual([])
    await fixture.clock.advance(10_001)
    expect(outcomes(await reap(fixture, { graceMs: 10_000 }))).toEqual(['run-1 settled'])
  })
})

describe('a detached run', () => {
  const detachedHost = async (fixture: ReapFixture): Promise<number> => {
    const { session } = await startHost(fixture, [[{ say: 'a' }, { wait: never }]])
    if (session.fence !== undefined) await fixture.stores.drivers.detach(session.fence)
    return (await fixture.stores.runs.get('run-1'))?.detachedSince ?? 0
  }

  it('is left to its driver until its time is up, to the millisecond, and its record stays as it is', async () => {
    const fixture = reapFixture()
    const since = await detachedHost(fixture)
    await fixture.clock.advance(TTL_MS - 1)
    expect(outcomes(await reap(fixture))).toEqual(['run-1 driven'])
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'running', detachedSince: since })
    expect((await fixture.stores.runs.get('run-1'))?.cancelRequested).toBeUndefined()
    await fixture.clock.advance(1)
    expect(outcomes(await reap(fixture))).toEqual(['run-1 expired'])
  })

  it('ends with its sandbox on the host that drives it once nobody came back', async () => {
    const fixture = reapFixture()
    await detachedHost(fixture)
    await fixture.clock.advance(TTL_MS)
    await reap(fixture)
    await fixture.clock.advance(2_000)
    await settled()
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'aborted' })
    expect(terminalsOf(await storedChunks(fixture.stores, 'run-1'))).toEqual(['RUN_ERROR'])
    expect(await fixture.sandboxIds()).toEqual([])
    expect(await fixture.stores.instances.list?.({})).toEqual({ records: [] })
  })

  it('is ended here, with its sandbox, when its host is dead and its time is up', async () => {
    const fixture = reapFixture()
    await deadHost(fixture, undefined, { isDetached: true })
    await fixture.clock.advance(TTL_MS)
    const report = await reap(fixture)
    expect(outcomes(report)).toEqual(['run-1 expired'])
    expect(report.sandboxes).toMatchObject([{ outcome: 'destroyed', threadId: 'thread-1' }])
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'aborted' })
    expect(await fixture.sandboxIds()).toEqual([])
  })

  it('keeps its time when its host is dead and another one continues it', async () => {
    const fixture = reapFixture()
    await deadHost(fixture, undefined, { isDetached: true })
    const before = (await fixture.stores.runs.get('run-1'))?.detachedSince
    const driver = driverFor(fixture, [[{ say: 'b' }, { wait: never }]])
    expect(outcomes(await reap(fixture, { driver }))).toEqual(['run-1 taken-over'])
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ driverEpoch: 2, detachedSince: before })
    await fixture.clock.advance(TTL_MS)
    expect(outcomes(await reap(fixture, { driver }))).toEqual(['run-1 expired'])
  })

  it('that had in fact finished is stored as completed, not as aborted', async () => {
    const fixture = reapFixture()
    await deadHost(fixture, undefined, { isDetached: true })
    const claim = await fixture.stores.drivers.claim({ runId: 'run-1', threadId: 'thread-1', owner: 'x', ttlMs: 1 })
    const log = fixture.stores.eventLog.open({ runId: 'run-1', epoch: claim.epoch })
    const end = { type: 'RUN_FINISHED', runId: 'run-1', threadId: 'thread-1', finishReason: 'stop', timestamp: 1 }
    await log.append([end as never])
    await fixture.stores.drivers.detach({ runId: 'run-1', epoch: claim.epoch })
    await fixture.clock.advance(TTL_MS)
    expect(outcomes(await reap(fixture))).toEqual(['run-1 expired'])
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'completed' })
    expect(await fixture.sandboxIds()).toHaveLength(1)
  })

  it('that was cancelled by a host that then died is finished by the next reap', async () => {
    const fixture = reapFixture()
    await deadHost(fixture, undefined, { isDetached: true })
    await fixture.stores.drivers.requestCancel({ runId: 'run-1' })
    const driver = driverFor(fixture, [[{ say: 'never said' }]])
    const report = await reap(fixture, { driver })
    expect(outcomes(report)).toEqual(['run-1 settled'])
    expect(report.sandboxes).toMatchObject([{ outcome: 'destroyed' }])
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'aborted' })
  })

  it('of many does not hold up the abandoned ones behind it', async () => {
    const fixture = reapFixture()
    for (let index = 0; index < 5; index += 1) {
      const run = { runId: `live-${index}`, threadId: `live-${index}` }
      const { session } = await startHost(fixture, [[{ wait: never }]], run)
      if (session.fence !== undefined) await fixture.stores.drivers.detach(session.fence)
    }
    await deadHost(fixture, undefined, { isDetached: true })
    expect(outcomes(await reap(fixture, { limit: 2 }))).toContain('run-1 settled')
  })
})

describe('a run that takes too long', () => {
  it('is ended though it is watched and driven', async () => {
    const fixture = reapFixture()
    await startHost(fixture, [[{ wait: never }]])
    await fixture.clock.advance(TTL_MS - 1)
    expect(outcomes(await reap(fixture, { maxRunMs: TTL_MS }))).toEqual([])
    await fixture.clock.advance(1)
    expect(outcomes(await reap(fixture, { maxRunMs: TTL_MS }))).toEqual(['run-1 expired'])
    await fixture.clock.advance(2_000)
    await settled()
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'aborted' })
  })
})

describe('sandboxes that should be gone', () => {
  it('are destroyed again and again until it works, with growing waits that every host keeps', async () => {
    const fixture = reapFixture()
    await deadHost(fixture)
    fixture.faults.add({ on: 'destroy', nth: 1, times: 3, do: 'fail' })
    await fixture.stores.drivers.requestCancel({ runId: 'run-1' })
    const first = await reap(fixture)
    expect(first.sandboxes).toMatchObject([{ outcome: 'failed', error: { message: expect.any(String) } }])
    const waits: number[] = []
    let waited = 0
    for (let tries = 0; (await fixture.sandboxIds()).length > 0 && tries < 100; tries += 1) {
      await fixture.clock.advance(30_000)
      waited += 30_000
      const { sandboxes } = await reap({ ...fixture, stores: { ...fixture.stores } })
      if (sandboxes.length > 0) waits.push(waited)
    }
    expect(waits).toEqual([60_000, 180_000, 420_000])
    expect(await fixture.stores.instances.list?.({})).toEqual({ records: [] })
  })

  it('are left in peace while their thread’s next run uses the key, and when another definition made them', async () => {
    const fixture = reapFixture()
    await startHost(fixture, [[{ wait: never }]])
    const [row] = (await fixture.stores.instances.list?.({}))?.records ?? []
    if (row === undefined) throw new Error('There is no row.')
    const foreign = { ...row, key: 'foreign', state: 'condemned' as const, labels: { 'holdfast.app': 'other' } }
    await fixture.stores.instances.upsert(foreign)
    await fixture.stores.instances.upsert({
      ...foreign,
      key: 'other-provider',
      provider: 'other',
      labels: { ...row.labels },
    })
    await fixture.clock.advance(24 * TTL_MS)
    expect((await reap(fixture, { detachedTtlMs: 100 * TTL_MS })).sandboxes).toEqual([])
    expect(await fixture.sandboxIds()).toEqual([row.providerSandboxId])
    expect(fixture.faults.calls('destroy')).toBe(0)
  })

  it('that a crash left half-built are destroyed once nobody builds them', async () => {
    const fixture = reapFixture()
    const held = fixture.faults.barrier('create')
    const { die } = await startHost(fixture, [[{ say: 'x' }]])
    await held.reached
    await fixture.clock.advance(10 * 60_000)
    const busy = reap(fixture)
    await fixture.clock.advance(1_000)
    expect((await busy).sandboxes).toMatchObject([{ outcome: 'kept' }])
    die()
    expect(fixture.faults.calls('destroy')).toBe(0)
    const row = { ...(await fixture.stores.instances.list?.({}))?.records[0], key: 'crashed' }
    await fixture.stores.instances.upsert({ ...row, providerSandboxId: 'crashed' } as never)
    const again = reap(fixture)
    await fixture.clock.advance(1_000)
    const crashed = (await again).sandboxes.filter(({ key }) => key === 'crashed')
    expect(crashed).toMatchObject([{ outcome: 'destroyed' }])
    expect(fixture.faults.calls('destroy')).toBe(1)
  })

  it('of a definition that keeps none are destroyed though the run is settled as failed', async () => {
    const fixture = reapFixture({ lifecycle: { reuse: 'none' } })
    await deadHost(fixture)
    const report = await reap(fixture)
    expect(report.sandboxes).toMatchObject([{ outcome: 'destroyed' }])
    expect(await fixture.sandboxIds()).toEqual([])
  })

  it('are marked where no definition is given, for a reaper that has one', async () => {
    const { sandbox, ...fixture } = reapFixture()
    await deadHost({ ...fixture, sandbox })
    await cancelRun({ ...fixture, runId: 'run-1' })
    expect(await fixture.stores.instances.list?.({})).toMatchObject({ records: [{ state: 'condemned' }] })
    await fixture.clock.advance(30_000)
    const report = await reapRuns({ ...fixture, sandbox, detachedTtlMs: TTL_MS })
    expect(report.sandboxes).toMatchObject([{ outcome: 'destroyed' }])
  })
})

describe('a store that fails', () => {
  it('is reported and never thrown', async () => {
    const fixture = reapFixture()
    await deadHost(fixture)
    await fixture.stores.close()
    const report = await reap(fixture)
    expect(report.runs).toEqual([])
    expect(report.errors.map(({ code }) => code)).toEqual(Array.from({ length: 3 }, () => 'STORE_CLOSED'))
  })

  it('in the middle fails that run alone', async () => {
    const fixture = reapFixture()
    await deadHost(fixture, undefined, { runId: 'run-1', threadId: 'thread-1' })
    await deadHost(fixture, undefined, { runId: 'run-2', threadId: 'thread-2' })
    const { messages } = fixture.stores
    const saveThread: typeof messages.saveThread = async (threadId, ...rest) => {
      if (threadId === 'thread-1') throw new Error('The disk is full.')
      await messages.saveThread(threadId, ...rest)
    }
    const broken = new Proxy(messages, {
      get: (target, name) => (name === 'saveThread' ? saveThread : Reflect.get(target, name).bind(target)),
    })
    const report = await reap({ ...fixture, stores: { ...fixture.stores, messages: broken } })
    expect(outcomes(report)).toEqual(['run-1 failed', 'run-2 settled'])
    await fixture.clock.advance(DRIVER_LEASE_MS + 1)
    expect(outcomes(await reap(fixture))).toEqual(['run-1 settled'])
  })
})
