import { createMemoryStores, OFFSET_START } from '@holdfast/core'
import type { HoldfastStores } from '@holdfast/core'
import { FakeClock } from '@holdfast/testing'
import type { StreamChunk } from '@tanstack/ai'
import { expect, it } from 'vitest'
import { attachRun } from '../../../src/runs/attach-run.ts'
import { DRIVER_LEASE_MS } from '../../../src/runs/heartbeat.ts'
import { settled } from '../../fixtures/gate.ts'

const RUN = 'run-1'
const RENEWAL_MS = DRIVER_LEASE_MS / 3
const SECOND = 1_000

interface Watched {
  renew: () => Promise<void>
  status: () => Promise<string | undefined>
}

/** A run of another host, just claimed, that somebody begins to watch here. */
async function watchedRun(stores: HoldfastStores, clock: FakeClock): Promise<Watched> {
  const ttlMs = DRIVER_LEASE_MS
  const { epoch } = await stores.drivers.claim({ runId: RUN, threadId: 'thread-1', owner: 'other', ttlMs })
  const chunk = { type: 'CUSTOM', name: 'x', value: {}, timestamp: 1 } as StreamChunk
  await stores.eventLog.open({ runId: RUN, epoch }).append([chunk])
  const request = new Request(`http://x/?runId=${RUN}`, { headers: { 'Last-Event-ID': OFFSET_START } })
  await attachRun({ stores, clock, request })
  await settled()
  return {
    renew: async () => void (await stores.drivers.renew({ runId: RUN, epoch, ttlMs })),
    status: async () => (await stores.runs.get(RUN))?.status,
  }
}

function countLooks(stores: HoldfastStores): { stores: HoldfastStores; looks: () => number } {
  let looks = 0
  const drivers = new Proxy(stores.drivers, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        if (name === 'findDrivers') looks += 1
        return Reflect.apply(value, target, args) as unknown
      }
    },
  })
  return { stores: { ...stores, drivers }, looks: () => looks }
}

it('the death of a host is noticed as soon as its lease has ended, however late it was renewed', async () => {
  const clock = new FakeClock()
  const run = await watchedRun(createMemoryStores({ clock }), clock)
  await clock.advance(RENEWAL_MS)
  await run.renew()
  await clock.advance(DRIVER_LEASE_MS)
  await settled()
  expect(await run.status()).toBe('running')
  await clock.advance(SECOND)
  await settled()
  expect(await run.status()).toBe('failed')
})

it('a host that lives is left in peace, and asked about no more often than its lease needs', async () => {
  const clock = new FakeClock()
  const { stores, looks } = countLooks(createMemoryStores({ clock }))
  const run = await watchedRun(stores, clock)
  const renewals = 30
  for (let renewal = 0; renewal < renewals; renewal += 1) {
    await clock.advance(RENEWAL_MS)
    await run.renew()
  }
  expect(await run.status()).toBe('running')
  expect(looks()).toBeLessThanOrEqual(renewals / 2 + 1)
})

it('a clock that is ahead of the store’s asks with a pause', async () => {
  const storeClock = new FakeClock()
  const clock = new FakeClock(storeClock.now() + 3_600 * SECOND)
  const { stores, looks } = countLooks(createMemoryStores({ clock: storeClock }))
  const run = await watchedRun(stores, clock)
  for (let second = 0; second < 60; second += 1) {
    if (second % 10 === 0) await run.renew()
    await Promise.all([clock.advance(SECOND), storeClock.advance(SECOND)])
  }
  expect(await run.status()).toBe('running')
  expect(looks()).toBeLessThanOrEqual(13)
})
