import type { Sql } from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inSchema } from '../../src/database/statement.ts'
import { claimRun } from '../../src/statements/claim-run.ts'
import { ConcurrencyServer } from '../support/concurrency-server.ts'

let server: ConcurrencyServer
beforeAll(async () => {
  server = await ConcurrencyServer.start()
}, 60_000)
afterAll(() => server.stop())

import { textChunk as chunk } from '../support/text-chunk.ts'

/** Until another session waits for a lock that somebody else holds. */
async function untilBlocked(admin: Sql): Promise<void> {
  for (;;) {
    const rows = await admin`
      select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    if (rows.length > 0) return
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

test('an append that began before a claim committed is refused, and its terminal write too', async () => {
  const [a, b] = server.hosts(2) as [ReturnType<typeof server.host>, ReturnType<typeof server.host>]
  const first = await a.drivers.claim({ runId: 'run', threadId: 'thread', owner: 'a', ttlMs: 1 })
  const log = a.eventLog.open({ runId: 'run', epoch: first.epoch })
  await log.append([chunk('before')])
  let append: Promise<unknown> = Promise.resolve()
  let finish: Promise<unknown> = Promise.resolve()
  let save: Promise<unknown> = Promise.resolve()
  await server.admin.begin(async (tx) => {
    const claimed = await tx.unsafe(inSchema(claimRun.text, 'holdfast'), ['run', 'thread', 'b', 60_000, null, false])
    expect(Number(claimed[0]?.['driver_epoch'])).toBe(2)
    append = log.append([chunk('stale')]).catch((error: unknown) => error)
    await untilBlocked(server.admin)
    finish = a.drivers.finish({ runId: 'run', epoch: 1, status: 'failed' })
    save = b.messages
      .saveThread('thread', [{ role: 'user', content: 'stale' }], { runId: 'run', epoch: 1 })
      .catch((error: unknown) => error)
    await untilBlocked(server.admin)
  })
  expect(await append).toMatchObject({ code: 'DRIVER_LOST' })
  expect(await finish).toBe(false)
  expect(await save).toMatchObject({ code: 'DRIVER_LOST' })
  await b.eventLog.open({ runId: 'run', epoch: 2 }).append([chunk('successor')])
  const events = await b.eventLog.open({ runId: 'run' }).snapshot()
  expect(events.map((entry) => (entry.chunk as { name?: string }).name)).toEqual(['before', 'successor'])
  expect((await b.runs.get('run'))?.status).toBe('running')
  expect(await b.messages.loadThread('thread')).toEqual([])
})

test('a claim waits for an append that holds the log, so what the older driver wrote comes first', async () => {
  const [a, b] = server.hosts(2) as [ReturnType<typeof server.host>, ReturnType<typeof server.host>]
  await a.drivers.claim({ runId: 'run-2', threadId: 'thread-2', owner: 'a', ttlMs: 1 })
  let claim: Promise<unknown> = Promise.resolve()
  await server.admin.begin(async (tx) => {
    await tx`select 1 from holdfast.run_logs where run_id = 'run-2' for update`
    await tx`select pg_sleep(0.01)`
    claim = b.drivers.claim({ runId: 'run-2', threadId: 'thread-2', owner: 'b', ttlMs: 60_000 })
    await untilBlocked(server.admin)
    await tx`update holdfast.run_logs set tail = tail + 1 where run_id = 'run-2'`
  })
  expect(await claim).toMatchObject({ epoch: 2 })
  expect(await b.eventLog.find('run-2')).toMatchObject({ length: 1 })
})
