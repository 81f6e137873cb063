import { trace } from '@opentelemetry/api'
import { beforeAll, describe, expect, it } from 'vitest'
import { reapRuns } from '../../../src/reap/reap-runs.ts'
import { findSession } from '../../../src/runs/session-registry.ts'
import { loadTelemetry } from '../../../src/telemetry/load-telemetry.ts'
import { startChat } from '../../fixtures/chat-fixture.ts'
import { deadHost, driverFor, never, reapFixture, startHost } from '../../fixtures/reap-fixture.ts'
import { recordedTelemetry } from '../../fixtures/recorded-telemetry.ts'

describe('OpenTelemetry', () => {
  beforeAll(loadTelemetry)

  it('shows one run as one trace below the request: sandbox and store writes under the run', async () => {
    const { spans, counts } = recordedTelemetry()
    const fixture = reapFixture()
    const request = trace.getTracer('test')
    const { context: api } = await import('@opentelemetry/api')
    const root = request.startSpan('request')
    await api.with(trace.setSpan(api.active(), root), async () => {
      const { session } = await startHost(fixture, [[{ say: 'a secret word' }]])
      await session.ended
    })
    expect(spans.find(({ name }) => name === 'holdfast.run')).toMatchObject({
      parent: 'request',
      attributes: { 'holdfast.run_id': 'run-1', 'holdfast.epoch': 1, 'holdfast.status': 'completed' },
      isError: false,
    })
    const children = spans.filter(({ parent }) => parent === 'holdfast.run').map(({ name }) => name)
    expect(new Set(children)).toEqual(
      new Set(['holdfast.sandbox.ensure', 'holdfast.store.append', 'holdfast.store.close']),
    )
    expect(spans.filter(({ name, isEnded }) => name !== 'request' && !isEnded)).toEqual([])
    expect(JSON.stringify(spans)).not.toContain('secret word')
    expect(counts).toEqual(['holdfast.runs 1 {"holdfast.status":"completed"}'])
  })

  it('puts spans of other libraries under the run that they work for', async () => {
    const { spans } = recordedTelemetry()
    const fixture = reapFixture()
    const wait = async (): Promise<void> => trace.getTracer('model').startSpan('model.call').end()
    const { run, stream } = await startChat(fixture, { turns: [[{ wait }]] })
    await run.drive(stream)
    expect(spans.find(({ name }) => name === 'model.call')?.parent).toBe('holdfast.run')
  })

  it('marks what failed with its code, and nothing of its text', async () => {
    const { spans, counts } = recordedTelemetry()
    const fixture = reapFixture()
    fixture.faults.add({ on: 'create', nth: 1, do: 'fail' })
    const { session } = await startHost(fixture, [[{ say: 'x' }]])
    await session.ended
    const ensure = spans.find(({ name }) => name === 'holdfast.sandbox.ensure')
    expect(ensure).toMatchObject({ isError: true, attributes: { 'holdfast.error_code': expect.any(String) } })
    expect(spans.find(({ name }) => name === 'holdfast.run')).toMatchObject({ isError: true })
    expect(counts).toEqual(['holdfast.runs 1 {"holdfast.status":"failed"}'])
  })

  it('counts takeovers, reaps, reclaims and drivers whose writes are refused', async () => {
    const { counts } = recordedTelemetry()
    const fixture = reapFixture()
    await deadHost(fixture)
    const driver = driverFor(fixture, [[{ say: 'whole' }]])
    await reapRuns({ ...fixture, driver, detachedTtlMs: 1_000 })
    await findSession(fixture.stores, 'run-1')?.ended
    await deadHost(fixture, undefined, { runId: 'run-2' })
    await fixture.stores.drivers.requestCancel({ runId: 'run-2' })
    await reapRuns({ ...fixture, detachedTtlMs: 1_000 })
    const { session } = await startHost(fixture, [[{ wait: never }]], { runId: 'run-3' })
    session.stop('lost')
    await fixture.clock.advance(2_000)
    await session.ended
    expect(counts).toEqual([
      'holdfast.takeovers 1 {}',
      'holdfast.reaps 1 {"holdfast.outcome":"taken-over"}',
      'holdfast.runs 1 {"holdfast.status":"completed"}',
      'holdfast.reaps 1 {"holdfast.outcome":"settled"}',
      'holdfast.reclaims 1 {"holdfast.outcome":"destroyed"}',
      'holdfast.drivers.lost 1 {}',
    ])
  })
})
