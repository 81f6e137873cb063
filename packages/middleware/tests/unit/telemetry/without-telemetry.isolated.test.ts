import { describe, expect, it, vi } from 'vitest'
import { loadTelemetry } from '../../../src/telemetry/load-telemetry.ts'
import { reapFixture, startHost } from '../../fixtures/reap-fixture.ts'

vi.mock('@opentelemetry/api', () => {
  throw Object.assign(new Error("Cannot find package '@opentelemetry/api'"), { code: 'ERR_MODULE_NOT_FOUND' })
})

describe('without OpenTelemetry', () => {
  it('runs go as they go', async () => {
    const fixture = reapFixture()
    const { session } = await startHost(fixture, [[{ say: 'x' }]])
    await session.ended
    expect(await loadTelemetry()).toBeUndefined()
    expect(session.trace).toBeUndefined()
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'completed' })
  })
})
