import assert from 'node:assert/strict'
import type { HoldfastStores, LockLease, LockStore } from '@holdfast/core'
import type { ConformanceSuite } from '../conformance-suite.ts'
import type { StoreSubject } from '../store-subject.ts'
import { BAD_TIMES, refusesBadArguments, refusesBadIds, refusesClosed } from './bad-input.ts'
import { hostAt, hostsOf } from './driver-subject.ts'
import { lockWaitCases } from './lock-wait-cases.ts'
import { heldLock } from './held-lock.ts'
import { required } from './required.ts'
import { meanwhile, soon } from './soon.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'

const CONTENDERS = 8
/** Longer than any store's lease, in steps shorter than any. */
const LONG_HOLD = { steps: 60, stepMs: 2_000 }

/** Counts how many callbacks are inside at once, and the tokens in the order in which they got in. */
class CriticalSection {
  readonly tokens: number[] = []
  mostAtOnce = 0
  #inside = 0

  readonly enter = async (_signal: AbortSignal, lease?: LockLease): Promise<void> => {
    this.#inside += 1
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#inside)
    this.tokens.push(required(lease, 'the lease').token)
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    this.#inside -= 1
  }

  assertOneAtATime(expected: number): void {
    assert.equal(this.mostAtOnce, 1, 'one callback at a time')
    assert.equal(this.tokens.length, expected, 'every waiter is served once')
    const ascending = [...new Set(this.tokens)].toSorted((left, right) => left - right)
    assert.deepEqual(this.tokens, ascending, 'each holder has a larger token than the one before')
  }
}

const holdCases: readonly StoreCase[] = [
  storeCase(
    'lock.gives-the-result',
    "withLock gives what the callback gives, or rejects with the callback's error",
    async ({ stores: { locks } }) => {
      assert.equal(await locks.withLock('key', () => Promise.resolve('result')), 'result')
      const failure = new Error('from the callback')
      await assert.rejects(
        locks.withLock('key', () => Promise.reject(failure)),
        (error) => error === failure,
      )
      assert.equal(
        await soon(
          locks.withLock('key', () => Promise.resolve('free')),
          'the lock after a failure',
        ),
        'free',
      )
    },
  ),
  storeCase(
    'lock.lease',
    'the callback gets a signal that is not aborted, and a lease with key and token',
    async ({ stores: { locks } }) => {
      await locks.withLock('key', (signal, lease) => {
        assert.ok(signal instanceof AbortSignal)
        assert.equal(signal.aborted, false)
        assert.equal(lease?.key, 'key')
        assert.ok(Number.isSafeInteger(lease?.token))
        return Promise.resolve()
      })
    },
  ),
  storeCase('lock.plain-callbacks', "callbacks written for TanStack's lock run unchanged", async ({ stores }) => {
    const plain: LockStore = stores.locks
    assert.equal(await plain.withLock('key', () => Promise.resolve(1)), 1)
  }),
  storeCase(
    'lock.one-at-a-time',
    'callbacks of one key never overlap, and later holders have larger tokens',
    async ({ stores: { locks } }) => {
      const section = new CriticalSection()
      await Promise.all(Array.from({ length: 10 }, () => locks.withLock('key', section.enter)))
      for (let again = 0; again < 3; again += 1) await locks.withLock('key', section.enter)
      section.assertOneAtATime(13)
    },
  ),
  storeCase('lock.keys-are-independent', 'locks of other keys are free', async ({ stores: { locks } }) => {
    const held = await heldLock(locks, 'key')
    for (const key of ['key-2', 'KEY', 'ke', 'key ']) {
      assert.equal(
        await soon(
          locks.withLock(key, () => Promise.resolve(key)),
          `the lock ${key}`,
        ),
        key,
      )
    }
    await held.letGo()
  }),
  storeCase(
    'lock.renews-itself',
    'a lock is kept for as long as its callback runs',
    async ({ stores: { locks }, advance }) => {
      const held = await heldLock(locks, 'key')
      let isTaken = false
      const taking = locks.withLock('key', () => {
        isTaken = true
        return Promise.resolve()
      })
      const waiting = meanwhile(taking)
      for (let step = 0; step < LONG_HOLD.steps; step += 1) await advance(LONG_HOLD.stepMs)
      assert.equal(held.signal.aborted, false)
      assert.equal(isTaken, false)
      await held.letGo()
      await soon(waiting, 'the lock after its release')
    },
  ),
]

const stateCases: readonly StoreCase[] = [
  storeCase(
    'lock.input.bad-ones-are-refused',
    'malformed keys and times are refused',
    async ({ stores: { locks } }) => {
      const never = () => assert.fail('a refused call runs no callback')
      await refusesBadIds({ withLock: (key) => locks.withLock(key, never) })
      await refusesBadArguments(BAD_TIMES, { waitMs: (waitMs) => locks.withLock('key', never, { waitMs }) })
    },
  ),
  storeCase(
    'lock.closed',
    'withLock after close is refused with STORE_CLOSED and runs no callback',
    async ({ stores }) => {
      await stores.close()
      const never = () => assert.fail('a closed store runs no callback')
      await refusesClosed({ withLock: () => stores.locks.withLock('key', never) })
    },
  ),
  storeCase(
    'lock.reopened',
    'tokens go on growing after the store was closed',
    async (subject) => {
      const token = ({ locks }: HoldfastStores) =>
        locks.withLock('key', (_signal, lease) => Promise.resolve(required(lease, 'the lease').token))
      const before = await token(subject.stores)
      assert.ok((await token(await required(subject.reopen, 'reopen')())) > before)
    },
    ['reopen'],
  ),
]

const concurrentCases: readonly StoreCase[] = [
  storeCase(
    'lock.concurrent.one-at-a-time',
    'holders on all connections never overlap, and tokens only grow',
    async (subject) => {
      const hosts = await hostsOf(subject, 4)
      const section = new CriticalSection()
      const contenders = Array.from({ length: CONTENDERS }, async (_, index) => {
        for (let round = 0; round < 5; round += 1) await hostAt(hosts, index).locks.withLock('key', section.enter)
      })
      await soon(Promise.all(contenders), 'the last of the contenders')
      section.assertOneAtATime(CONTENDERS * 5)
    },
    ['concurrent'],
  ),
  storeCase(
    'lock.concurrent.woken-on-release',
    'a waiter on another connection gets a lock that is let go',
    async (subject) => {
      const hosts = await hostsOf(subject, 2)
      const held = await heldLock(subject.stores.locks, 'key')
      const taking = hostAt(hosts, 1).locks.withLock('key', (_signal, lease) => Promise.resolve(lease?.token ?? 0))
      const waiting = meanwhile(taking)
      await held.letGo()
      await subject.advance(2_000)
      assert.ok((await soon(waiting, 'the lock on the other connection')) > held.token)
    },
    ['concurrent'],
  ),
]

/** The contract of `FencedLockStore`. */
export const lockStoreSuite: ConformanceSuite<StoreSubject> = {
  name: 'FencedLockStore',
  cases: [...holdCases, ...lockWaitCases, ...stateCases, ...concurrentCases],
}
