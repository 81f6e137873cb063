import assert from 'node:assert/strict'
import { OFFSET_START } from '@holdfast/core'
import type { ConformanceSuite } from '../conformance-suite.ts'
import type { StoreSubject } from '../store-subject.ts'
import { claim } from './driver-subject.ts'
import { Tail, textChunk } from './event-chunks.ts'
import { heldLock } from './held-lock.ts'
import { rejectsWith } from './rejects-with.ts'
import { meanwhile, soon } from './soon.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'

const cases: readonly StoreCase[] = [
  storeCase(
    'stores.ping',
    'ping resolves while the stores work, and is refused with STORE_CLOSED after close',
    async ({ stores }) => {
      assert.match(stores.backend, /^\S+$/)
      await stores.ping()
      await stores.close()
      await rejectsWith('STORE_CLOSED', () => stores.ping())
    },
  ),
  storeCase('stores.close.repeatable', 'close may be called again, also at the same time', async ({ stores }) => {
    await soon(Promise.all([stores.close(), stores.close()]), 'close')
    await stores.close()
  }),
  storeCase(
    'stores.close.waits-for-what-runs',
    'writes that were under way when close was called are settled by it',
    async ({ stores }) => {
      const log = stores.eventLog.open({ runId: 'run-1' })
      let settled = 0
      const writes = Array.from({ length: 10 }, (_, index) =>
        log.append([textChunk(`${index}`)]).finally(() => (settled += 1)),
      )
      const outcomes = Promise.allSettled(writes)
      await soon(stores.close(), 'close')
      assert.equal(settled, 10)
      for (const outcome of await outcomes) assert.equal(outcome.status, 'fulfilled')
    },
  ),
  storeCase(
    'stores.close.ends-waits',
    'close ends readers and waits with STORE_CLOSED, never as if a log had ended',
    async ({ stores }) => {
      await claim(stores.drivers)
      const tail = new Tail(stores.eventLog.open({ runId: 'run-1' }), OFFSET_START)
      const reading = meanwhile(rejectsWith('STORE_CLOSED', () => tail.pending(), 'a read that waits'))
      const never = new AbortController().signal
      const listening = meanwhile(
        rejectsWith('STORE_CLOSED', () => stores.drivers.onCancel('run-1', never), 'onCancel'),
      )
      await stores.ping()
      await soon(stores.close(), 'close')
      await soon(Promise.all([reading, listening]), 'the end of what waited')
    },
  ),
  storeCase(
    'stores.close.ends-lock-waiters',
    'close refuses those who wait for a lock with STORE_CLOSED',
    async ({ stores }) => {
      const held = await heldLock(stores.locks, 'key')
      const never = () => assert.fail('a closed store runs no callback')
      const waiting = meanwhile(rejectsWith('STORE_CLOSED', () => stores.locks.withLock('key', never)))
      await stores.ping()
      const closing = meanwhile(stores.close())
      await soon(waiting, 'the end of the wait')
      await held.letGo()
      await soon(closing, 'close')
    },
  ),
]

/** What all stores promise together: `ping` and `close`. */
export const storeLifeSuite: ConformanceSuite<StoreSubject> = { name: 'HoldfastStores', cases }
