import type { FencingToken } from '@holdfast/core'
import { lockStoreSuite } from '../../../src/conformance/stores/lock-store-suite.ts'
import { withBroken } from './store-mutant.ts'
import type { StoreMutant } from './store-mutant.ts'

/** Wrong lock stores. */
export const LOCK_MUTANTS: readonly StoreMutant[] = [
  {
    name: 'nobody is kept out',
    suite: lockStoreSuite,
    change: withBroken('locks', (locks) => {
      let calls = 0
      return {
        withLock: async (key, fn, options) => {
          calls += 1
          const token = calls as FencingToken
          return locks.withLock(`${key}${key === '' ? '' : calls}`, (signal) => fn(signal, { key, token }), options)
        },
      }
    }),
    hangs: true,
    detectedBy: ['lock.one-at-a-time', 'lock.renews-itself', 'lock.wait.timeout', 'lock.wait.abort'],
  },
  {
    name: 'tokens do not grow',
    suite: lockStoreSuite,
    change: withBroken('locks', (locks) => ({
      withLock: (key, fn, options) =>
        locks.withLock(key, (signal) => fn(signal, { key, token: 1 as FencingToken }), options),
    })),
    detectedBy: ['lock.one-at-a-time'],
  },
  {
    name: 'waiters ignore waitMs and signal',
    suite: lockStoreSuite,
    change: withBroken('locks', (locks) => ({
      withLock: (key, fn, options) => {
        const isLive = options?.signal?.aborted === false
        const isUsable = (options?.waitMs ?? -1) >= 0 && Number.isFinite(options?.waitMs)
        return locks.withLock(key, fn, isLive || isUsable ? {} : options)
      },
    })),
    hangs: true,
    detectedBy: ['lock.wait.timeout', 'lock.wait.abort', 'lock.wait.the-next-is-served'],
  },
  {
    name: "a caller's signal reaches into its callback",
    suite: lockStoreSuite,
    change: withBroken('locks', (locks) => ({
      withLock: (key, fn, options) =>
        locks.withLock(key, (signal, lease) => fn(options?.signal ?? signal, lease), options),
    })),
    detectedBy: ['lock.wait.abort-does-not-reach-a-holder'],
  },
]
