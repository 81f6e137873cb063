import postgres from 'postgres'
import type { Sql } from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inSchema } from '../../src/database/statement.ts'
import type { Statement } from '../../src/database/statement.ts'
import { appendFenced, inspectLog } from '../../src/statements/append-events.ts'
import { claimRun } from '../../src/statements/claim-run.ts'
import { findActiveRun, findRun, listReclaimableRuns, listThreadRuns } from '../../src/statements/find-run.ts'
import { finishRun, renewRun } from '../../src/statements/hold-run.ts'
import { findThreadHolder } from '../../src/statements/inspect-claim.ts'
import { listOrphanedRuns, listRuns } from '../../src/statements/list-runs.ts'
import { readEvents } from '../../src/statements/read-events.ts'
import { removeLogsBefore } from '../../src/statements/remove-logs.ts'
import { listInstances, listThreadInstances, listUnsettledInstances } from '../../src/statements/sandbox-instances.ts'
import { listThreads } from '../../src/statements/threads.ts'
import { ConcurrencyServer } from '../support/concurrency-server.ts'

const RUNS = 100_000
/** Of a run, in batches of ten: five million events in all. */
const EVENTS_PER_RUN = 50

let server: ConcurrencyServer
beforeAll(async () => {
  server = await ConcurrencyServer.start({ max_wal_size: '4GB', synchronous_commit: 'off' })
  await fill(server.admin)
}, 300_000)
afterAll(() => server.stop())

async function fill(sql: Sql): Promise<void> {
  await sql.unsafe(`
    insert into holdfast.runs (run_id, thread_id, status, started_at, finished_at, driver_epoch, driver_owner, lease_expires_at, holds_thread, detached_since)
    select 'run-' || n, 'thread-' || n / 10, case when n % 1000 = 0 then 'running' else 'completed' end, n, n, 1, 'owner', n,
      n % 1000 = 0, case when n % 2000 = 0 then n end
    from generate_series(1, ${RUNS}) n`)
  await sql.unsafe(`
    insert into holdfast.run_logs (run_id, epoch, tail, closed_at)
    select 'run-' || n, 1, ${EVENTS_PER_RUN}, case when n % 1000 <> 0 then n end from generate_series(1, ${RUNS}) n`)
  await sql.unsafe(`
    insert into holdfast.run_events (log_id, first_seq, event_count, payload)
    select log_id, batch * 10 + 1, 10, '{}' from holdfast.run_logs, generate_series(0, ${EVENTS_PER_RUN / 10 - 1}) batch`)
  await sql.unsafe(`
    insert into holdfast.threads
    select 'thread-' || n, case when n = 1 then 'quiet' when n % 2 = 0 then 'busy' else 'owner-' || n % 100 end, null, n, n
    from generate_series(1, 10000) n`)
  await sql.unsafe(`
    insert into holdfast.sandbox_instances (key, provider, provider_sandbox_id, thread_id, updated_at, state)
    select 'key-' || n, 'provider', 'sandbox-' || n, 'thread-' || n, n,
      case when n % 1000 = 0 then 'condemned' when n % 2 = 0 then 'ready' end from generate_series(1, 20000) n`)
  await sql.unsafe('vacuum analyze')
}

async function planOf(statement: Statement, params: unknown[]): Promise<string> {
  const rows = await server.admin.begin(async (tx) => {
    const answer = await tx.unsafe(`explain (format json) ${inSchema(statement.text, 'holdfast')}`, params as never[])
    return answer
  })
  return JSON.stringify(Object.values(rows[0] ?? {})[0])
}

/** Tables that the plan reads from end to end. */
async function scannedTables(statement: Statement, params: unknown[]): Promise<string[]> {
  const plan = await planOf(statement, params)
  return [...plan.matchAll(/"Node Type":"Seq Scan"[^}]*?"Relation Name":"(\w+)"/g)].map((match) => match[1] ?? '')
}

const BATCH = '00000000-0000-4000-8000-000000000000'

describe('hot statements and lists read no table from end to end', () => {
  const cases: [string, Statement, unknown[]][] = [
    ['append', appendFenced, ['run-1000', 1, 1, BATCH, '{}']],
    ['read', readEvents, ['run-1000', 20, 256, 1_000_000]],
    ['inspect a log', inspectLog, ['run-1000']],
    ['claim', claimRun, ['run-1000', 'thread-100', 'owner', 1000, null, false]],
    ['renew', renewRun, ['run-1000', 1, 1000]],
    ['finish', finishRun, ['run-1000', 1, 'completed', null, null]],
    ['holder of a thread', findThreadHolder, ['thread-100']],
    ['one run', findRun, ['run-1000']],
    ['active run of a thread', findActiveRun, ['thread-100']],
    ['runs of a thread', listThreadRuns, ['thread-100']],
    ['orphaned runs', listOrphanedRuns, [null, 0, 25]],
    ['detached runs', listReclaimableRuns, [1e12]],
    ['newest runs', ...listRuns({ limit: 100 })],
    ['newest failed runs', ...listRuns({ status: 'failed', limit: 100 })],
    ['newest runs of a thread', ...listRuns({ threadId: 'thread-100', limit: 100 })],
    ['newest runs of an owner', ...listRuns({ ownerId: 'owner-1', limit: 100 })],
    ['newest running runs of an owner', ...listRuns({ ownerId: 'owner-1', status: 'running', limit: 100 })],
    ['newest runs of a small owner', ...listRuns({ ownerId: 'quiet', limit: 100 })],
    ['newest runs of an owner of half', ...listRuns({ ownerId: 'busy', limit: 100 })],
    ['old logs', removeLogsBefore, [500, 200]],
    ['threads of an owner', listThreads, ['owner-1', 1e15, '', 100]],
    ['oldest instances', listInstances, [null, null, -1, '', 100, null]],
    ['instances of a thread', listThreadInstances, [null, null, -1, '', 100, null, 'thread-100']],
    ['condemned instances', listUnsettledInstances, ['provider', 1e12, -1, '', 100, 'condemned']],
  ]
  test.each(cases)('%s', async (_, statement, params) => {
    expect(await scannedTables(statement, params)).toEqual([])
  })
})

test("the runs of an owner are planned for that owner, not for all of a connection's calls", async () => {
  const sql = postgres(server.postgres.url, { max: 1 })
  const { drivers } = server.host({ sql })
  for (let call = 0; call < 10; call += 1) {
    await drivers.list({ limit: 100 })
    await drivers.list({ ownerId: 'owner-1', limit: 100 })
  }
  const kept = await sql.unsafe('select statement from pg_prepared_statements', [], { prepare: false })
  const lists = kept.map((row) => String(row['statement'])).filter((text) => text.includes('.runs where true'))
  expect(lists).toHaveLength(1)
  expect(lists[0]).not.toContain('owner_id')
  await sql.end()
})

test('a reaper reads no instance that is ready', async () => {
  const plan = await planOf(listUnsettledInstances, ['provider', 1e12, -1, '', 100, 'condemned'])
  expect(plan).toContain('"Index Name":"sandbox_instances_unsettled"')
})

test('the plan check sees a scan where there is one', async () => {
  const scan: Statement = { text: `select * from holdfast.runs where error = $1`, repeatable: true }
  expect(await scannedTables(scan, ['x'])).toEqual(['runs'])
})
