import { afterAll, beforeAll, expect, test } from 'vitest'
import { ConcurrencyServer } from '../support/concurrency-server.ts'

let server: ConcurrencyServer
beforeAll(async () => {
  server = await ConcurrencyServer.start()
}, 60_000)
afterAll(() => server.stop())

const STAY_MS = 30_000

/** Somebody comes into the line while the lock is held, is passed by, and has so many milliseconds left to stay. */
async function stayAfterPassing(key: string, meanwhile: () => Promise<unknown> = async () => {}): Promise<number> {
  const { locks } = server.host()
  await locks.withLock(key, async () => {
    await server.admin`
      insert into holdfast.lock_waiters (waiter, key, expires_at)
      values (gen_random_uuid(), ${key}, holdfast.now_ms() + ${STAY_MS})`
  })
  await meanwhile()
  await locks.withLock(key, async () => {})
  const [row] = await server.admin`
    select expires_at - holdfast.now_ms() as stay_ms from holdfast.lock_waiters where key = ${key}`
  return Number(row?.['stay_ms'])
}

test('one that died in the line holds the others up for a moment only', async () => {
  expect(await stayAfterPassing('died')).toBeLessThanOrEqual(2_000)
})

test('one that was passed by and lives keeps its place', async () => {
  const signOfLife = () => server.admin`
    update holdfast.lock_waiters set expires_at = holdfast.now_ms() + ${STAY_MS} where key = 'lives'`
  expect(await stayAfterPassing('lives', signOfLife)).toBeGreaterThan(STAY_MS / 2)
})
