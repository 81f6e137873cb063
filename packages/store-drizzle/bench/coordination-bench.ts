import type { Sql } from 'postgres'
import type { SqlStores } from '../src/index.ts'
import { ratesInTurns } from './measure.ts'
import type { Measurement } from './measure.ts'

/** A claim and its end against one insert and one update of a plain row. */
export async function benchClaims(stores: SqlStores, sql: Sql): Promise<Measurement> {
  await sql`create table plain_runs (id text primary key, status text not null)`
  const rates = await ratesInTurns(
    30,
    async (index) => {
      const runId = `claim-${index}`
      const { epoch } = await stores.drivers.claim({ runId, threadId: 'claims', owner: 'bench', ttlMs: 60_000 })
      await stores.drivers.finish({ runId, epoch, status: 'completed' })
    },
    async (index) => {
      await sql`insert into plain_runs values (${`claim-${index}`}, 'running')`
      await sql`update plain_runs set status = 'completed' where id = ${`claim-${index}`}`
    },
  )
  return {
    name: 'claim and finish',
    ours: `${rates.ours.toFixed(0)}/s`,
    plain: `${rates.plain.toFixed(0)}/s`,
    ratio: rates.ratio,
  }
}

/** A lock that passes between two hosts against two updates of a plain row. */
export async function benchHandOver(hosts: readonly [SqlStores, SqlStores], sql: Sql): Promise<Measurement> {
  await sql`create table plain_locks (id text primary key, owner text)`
  await sql`insert into plain_locks values ('lock', null)`
  const handOver = async (): Promise<void> => {
    await Promise.all(hosts.map((host) => host.locks.withLock('bench', () => Promise.resolve())))
  }
  const rates = await ratesInTurns(15, handOver, async () => {
    for (const owner of ['a', 'b']) {
      await sql`update plain_locks set owner = ${owner} where id = 'lock'`
      await sql`update plain_locks set owner = null where id = 'lock'`
    }
  })
  return {
    name: 'lock hand-over between two hosts',
    ours: `${rates.ours.toFixed(0)}/s`,
    plain: `${rates.plain.toFixed(0)}/s`,
    ratio: rates.ratio,
  }
}
