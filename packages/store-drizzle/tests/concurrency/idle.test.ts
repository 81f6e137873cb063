import { setMaxListeners } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { OFFSET_START } from '@holdfast/core'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ConcurrencyServer } from '../support/concurrency-server.ts'

let server: ConcurrencyServer
beforeAll(async () => {
  server = await ConcurrencyServer.start()
}, 60_000)
afterAll(() => server.stop())

test('a thousand idle waits hold one connection and ask nothing', { timeout: 60_000 }, async () => {
  let queries = 0
  const sql = postgres(server.postgres.url, { max: 4, onnotice: () => {}, debug: () => (queries += 1) })
  const host = server.host({ sql })
  const stop = new AbortController()
  setMaxListeners(0, stop.signal)
  const waits = Array.from({ length: 500 }, async (_, index) => {
    const reader = host.eventLog.open({ runId: `run-${index}` }).read(OFFSET_START, stop.signal)
    const cancelled = host.drivers.onCancel(`run-${index}`, stop.signal).catch(() => undefined)
    await Promise.all([reader[Symbol.asyncIterator]().next(), cancelled])
  })
  while ((await listeners()) < 1 || queries < 1_000) await wait(20)
  await wait(500)
  const before = queries
  await wait(2_000)
  expect(queries - before).toBe(0)
  expect(await listeners()).toBe(1)
  stop.abort()
  await Promise.all(waits)
  await host.close()
  await sql.end()
})

async function listeners(): Promise<number> {
  const rows = await server.admin`select 1 from pg_stat_activity where query like 'listen holdfast%'`
  return rows.length
}
