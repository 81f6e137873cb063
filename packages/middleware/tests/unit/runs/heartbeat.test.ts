import { StoreError } from '@holdfast/core'
import type { HoldfastStores } from '@holdfast/core'
import { describe, expect, it } from 'vitest'
import { beginRun } from '../../../src/runs/begin-run.ts'
import { DRIVER_LEASE_MS } from '../../../src/runs/heartbeat.ts'
import { takeOverRun } from '../../../src/runs/take-over-run.ts'
import { chatFixture, chatRequest } from '../../fixtures/chat-fixture.ts'
import type { ChatFixture } from '../../fixtures/chat-fixture.ts'

type Renew = HoldfastStores['drivers']['renew']

/** Stores whose renewals do what the test says. */
function fixtureWith(renew: (next: Renew) => Renew): ChatFixture {
  const fixture = chatFixture()
  const { drivers } = fixture.stores
  const next: Renew = (input) => drivers.renew(input)
  const changed = new Proxy(drivers, {
    get(target, name) {
      if (name === 'renew') return renew(next)
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { ...fixture, stores: { ...fixture.stores, drivers: changed } }
}

describe('the heartbeat of a run', () => {
  it('stops the run when the store has answered no renewal for as long as the lease lasts', async () => {
    const fixture = fixtureWith(() => () => new Promise(() => undefined))
    const run = await beginRun({ ...fixture, chat: chatRequest('run-1') })
    await fixture.clock.advance(DRIVER_LEASE_MS - 1)
    expect(run.session.stopReason).toBeUndefined()
    await fixture.clock.advance(1)
    expect(run.session.stopReason).toBe('lost')
  })

  it('goes on when one renewal is never answered and later ones are', async () => {
    let calls = 0
    const fixture = fixtureWith((next) => (input) => {
      calls += 1
      return calls === 1 ? new Promise(() => undefined) : next(input)
    })
    const run = await beginRun({ ...fixture, chat: chatRequest('run-1') })
    await fixture.clock.advance(4 * DRIVER_LEASE_MS)
    expect(calls).toBeGreaterThan(10)
    expect(run.session.stopReason).toBeUndefined()
  })

  it('goes on through a failure that is shorter than the lease', async () => {
    let calls = 0
    const fixture = fixtureWith((next) => (input) => {
      calls += 1
      return calls <= 2 ? Promise.reject(new StoreError('STORE_UNAVAILABLE', 'away')) : next(input)
    })
    const run = await beginRun({ ...fixture, chat: chatRequest('run-1') })
    await fixture.clock.advance(2 * DRIVER_LEASE_MS)
    expect(run.session.stopReason).toBeUndefined()
  })

  it('leaves the run to this process when only its renewals were late', async () => {
    const fixture = fixtureWith(() => () => Promise.reject(new StoreError('STORE_UNAVAILABLE', 'away')))
    const run = await beginRun({ ...fixture, chat: chatRequest('run-1') })
    await fixture.stores.drivers.release(run.session.fence ?? { runId: '', epoch: 0 })
    const driver = { tools: [], drive: () => Promise.reject(new Error('no')) as never }
    expect(await takeOverRun({ ...fixture, runId: 'run-1', driver })).toBe('driven')
    expect((await fixture.stores.runs.get('run-1'))?.driverEpoch).toBe(run.session.epoch)
  })
})
