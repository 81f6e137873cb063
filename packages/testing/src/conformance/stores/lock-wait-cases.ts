import assert from 'node:assert/strict'
import { heldLock } from './held-lock.ts'
import { rejectsWith } from './rejects-with.ts'
import { advanceUntil, meanwhile, soon } from './soon.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'

const mustNotRun = (): Promise<never> => assert.fail('the callback of a waiter that gave up must not run')

export const lockWaitCases: readonly StoreCase[] = [
  storeCase(
    'lock.wait.timeout',
    'a wait longer than waitMs is refused with LOCK_TIMEOUT and runs no callback',
    async (subject) => {
      const { locks } = subject.stores
      const held = await heldLock(locks, 'key')
      const waiting = meanwhile(rejectsWith('LOCK_TIMEOUT', () => locks.withLock('key', mustNotRun, { waitMs: 3_000 })))
      await advanceUntil(subject, waiting, { stepMs: 1_000, withinMs: 10_000, what: 'the end of the wait' })
      assert.equal(held.signal.aborted, false)
      await held.letGo()
      assert.equal(
        await soon(
          locks.withLock('key', () => Promise.resolve(1)),
          'the lock after the wait',
        ),
        1,
      )
    },
  ),
  storeCase('lock.wait.free-at-once', 'a free lock is taken whatever waitMs is', async ({ stores: { locks } }) => {
    assert.equal(
      await soon(
        locks.withLock('key', () => Promise.resolve(1), { waitMs: 0 }),
        'a free lock',
      ),
      1,
    )
  }),
  storeCase(
    'lock.wait.abort',
    "a signal stops the wait with the signal's reason and runs no callback",
    async ({ stores: { locks } }) => {
      const held = await heldLock(locks, 'key')
      const controller = new AbortController()
      const reason = new Error('no longer needed')
      const waiting = locks.withLock('key', mustNotRun, { signal: controller.signal })
      const outcome = meanwhile(assert.rejects(waiting, (error) => error === reason))
      controller.abort(reason)
      await soon(outcome, 'the end of the wait')
      await held.letGo()
      assert.equal(
        await soon(
          locks.withLock('key', () => Promise.resolve(1)),
          'the lock after the wait',
        ),
        1,
      )
    },
  ),
  storeCase(
    'lock.wait.aborted-before',
    'a signal that is aborted already refuses the lock with its reason',
    async ({ stores: { locks } }) => {
      const reason = new Error('too late')
      const signal = AbortSignal.abort(reason)
      await assert.rejects(locks.withLock('key', mustNotRun, { signal }), (error) => error === reason)
      assert.equal(
        await soon(
          locks.withLock('key', () => Promise.resolve(1)),
          'the free lock',
        ),
        1,
      )
    },
  ),
  storeCase(
    'lock.wait.abort-does-not-reach-a-holder',
    'a signal that aborts later does not reach into a callback that has started',
    async ({ stores: { locks } }) => {
      const controller = new AbortController()
      const result = locks.withLock(
        'key',
        async (signal) => {
          controller.abort(new Error('too late'))
          await new Promise((resolve) => setImmediate(resolve))
          return signal.aborted
        },
        { signal: controller.signal },
      )
      assert.equal(await soon(result, 'the end of the callback'), false)
    },
  ),
  storeCase(
    'lock.wait.the-next-is-served',
    'a waiter that gives up does not hold up those behind it',
    async ({ stores: { locks } }) => {
      const held = await heldLock(locks, 'key')
      const controller = new AbortController()
      const quitting = meanwhile(assert.rejects(locks.withLock('key', mustNotRun, { signal: controller.signal })))
      const behind = Array.from({ length: 5 }, (_, index) => locks.withLock('key', () => Promise.resolve(index)))
      const served = meanwhile(Promise.all(behind))
      controller.abort()
      await soon(quitting, 'the end of the first waiter')
      await held.letGo()
      assert.deepEqual(await soon(served, 'the waiters behind it'), [0, 1, 2, 3, 4])
    },
  ),
]
