import { describe, expect, it } from 'vitest'
import type { RunError } from '@holdfast/core'
import { startReaper } from '../../../src/reap/start-reaper.ts'
import type { StartReaperInput } from '../../../src/reap/start-reaper.ts'
import { gate, settled } from '../../fixtures/gate.ts'
import { deadHost, reapFixture } from '../../fixtures/reap-fixture.ts'
import type { ReapFixture } from '../../fixtures/reap-fixture.ts'

const EVERY_MS = 60_000
const start = (fixture: ReapFixture, options: Partial<StartReaperInput> = {}) =>
  startReaper({ ...fixture, everyMs: EVERY_MS, detachedTtlMs: 3_600_000, random: () => 0.5, ...options })

describe('startReaper', () => {
  it('refuses intervals that would spin, and a sweep of nothing', () => {
    const { sandbox: _sandbox, ...fixture } = reapFixture()
    const base = { ...fixture, everyMs: EVERY_MS, detachedTtlMs: 1 }
    expect(() => startReaper({ ...base, everyMs: 0 })).toThrow(TypeError)
    expect(() => startReaper({ ...base, sweep: { everyMs: 1, minAgeMs: 1 } })).toThrow(TypeError)
    expect(fixture.clock.pending).toBe(0)
  })

  it('reaps after each interval until it is stopped, with one timer', async () => {
    const fixture = reapFixture()
    let reaps = 0
    const reaper = start(fixture, { onReap: () => (reaps += 1) })
    expect(fixture.clock.pending).toBe(1)
    await fixture.clock.advance(EVERY_MS - 1)
    expect(reaps).toBe(0)
    await fixture.clock.advance(1 + 2 * EVERY_MS)
    expect(reaps).toBe(3)
    expect(fixture.clock.pending).toBe(1)
    await reaper.stop()
    await reaper.stop()
    expect(fixture.clock.pending).toBe(0)
    await fixture.clock.advance(10 * EVERY_MS)
    expect(reaps).toBe(3)
  })

  it('does not reap in step with other hosts', async () => {
    const fixture = reapFixture()
    const early = start(fixture, { random: () => 0 })
    expect(fixture.clock.nextDueIn).toBe(0.9 * EVERY_MS)
    await early.stop()
    const late = start(fixture, { random: () => 1 })
    expect(fixture.clock.nextDueIn).toBe(1.1 * EVERY_MS)
    await late.stop()
  })

  it('never has two reaps under way, and stop waits for the one that is', async () => {
    const fixture = reapFixture()
    const held = gate()
    let lists = 0
    const { drivers } = fixture.stores
    const listOrphaned: typeof drivers.listOrphaned = async (input) => {
      lists += 1
      await held.opened
      return drivers.listOrphaned(input)
    }
    const slow = new Proxy(drivers, {
      get: (target, name) =>
        name === 'listOrphaned' ? listOrphaned : (Reflect.get(target, name) as () => void).bind(target),
    })
    const reaper = start({ ...fixture, stores: { ...fixture.stores, drivers: slow } })
    await fixture.clock.advance(5 * EVERY_MS)
    expect(lists).toBe(1)
    let isStopped = false
    const stopping = reaper.stop().then(() => {
      isStopped = true
    })
    await settled()
    expect(isStopped).toBe(false)
    held.open()
    await stopping
    await fixture.clock.advance(5 * EVERY_MS)
    expect(lists).toBe(1)
  })

  it('reports errors and goes on, also when the one who listens throws', async () => {
    const fixture = reapFixture()
    const errors: RunError[] = []
    let reaps = 0
    const reaper = start(fixture, {
      onReap() {
        reaps += 1
        if (reaps === 1) throw new Error('The listener failed.')
      },
      onError: (error) => void errors.push(error),
    })
    await fixture.clock.advance(EVERY_MS)
    await fixture.stores.close()
    await fixture.clock.advance(EVERY_MS)
    expect(reaps).toBe(2)
    expect(errors.map(({ code }) => code)).toEqual(Array.from({ length: 3 }, () => 'STORE_CLOSED'))
    await reaper.stop()
  })

  it('sweeps at its own pace', async () => {
    const fixture = reapFixture()
    await deadHost(fixture)
    let sweeps = 0
    const sweep = { everyMs: 3 * EVERY_MS, minAgeMs: 1_000 }
    const reaper = start(fixture, { sweep, onSweep: () => (sweeps += 1) })
    await fixture.clock.advance(2 * EVERY_MS)
    expect(sweeps).toBe(0)
    await fixture.clock.advance(4 * EVERY_MS)
    expect(sweeps).toBe(2)
    await reaper.stop()
  })
})
