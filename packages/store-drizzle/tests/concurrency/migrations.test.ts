import { setTimeout as wait } from 'node:timers/promises'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrateSchema } from '../../src/database/migrate-schema.ts'
import { postgresConnection } from '../../src/database/postgres-executor.ts'
import { MIGRATIONS } from '../../src/migrations/migration-list.ts'
import { ConcurrencyServer, ROUNDS } from '../support/concurrency-server.ts'
import { textChunk } from '../support/text-chunk.ts'
import { buildHostProgram, HostProcess } from '../support/spawn-host.ts'

let server: ConcurrencyServer
let program: Awaited<ReturnType<typeof buildHostProgram>>
beforeAll(async () => {
  program = await buildHostProgram()
  server = await ConcurrencyServer.start()
}, 60_000)
afterAll(async () => {
  program.remove()
  await server.stop()
})

async function onEmptyDatabase(work: (url: string, sql: postgres.Sql) => Promise<void>): Promise<void> {
  const database = await server.postgres.createDatabase()
  const sql = postgres(database.url, { max: 1, onnotice: () => {} })
  try {
    await work(database.url, sql)
  } finally {
    await sql.end()
    await database.drop()
  }
}

const EVERY_VERSION = MIGRATIONS.map(({ version }) => ({ version }))

/** What could be taken for the end of a chunk. */
const CHUNKS = ['a\nb', '},{', '\\n"'].map((name) => textChunk(name))

describe('migrations', () => {
  test('ten processes that start at once apply each migration once', { timeout: 600_000 }, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await onEmptyDatabase(async (url, sql) => {
        await sql.unsafe('create schema drizzle; create table drizzle.__drizzle_migrations (id int)').simple()
        const hosts = Array.from(
          { length: 10 },
          (_, index) => new HostProcess(program.path, { kind: 'ping', url, name: `${index}` }),
        )
        await Promise.all(hosts.map((host) => host.until('done')))
        expect(await sql`select version from holdfast.migrations order by version`).toEqual(EVERY_VERSION)
        expect(await sql`select count(*)::int as rows from drizzle.__drizzle_migrations`).toEqual([{ rows: 0 }])
      })
    }
  })

  test(
    'a migration that is killed halfway leaves nothing, and another process does it',
    { timeout: 60_000 },
    async () => {
      await onEmptyDatabase(async (url, sql) => {
        const client = postgres(url, { max: 1, onnotice: () => {} })
        const slow = [...MIGRATIONS, { version: 99, name: 'slow', sql: 'select pg_sleep(60)' }]
        const connection = postgresConnection(client, { prepare: true, ownsClient: true })
        const halfway = migrateSchema(connection, { schema: 'holdfast', migrations: slow }).catch(
          (error: unknown) => error,
        )
        let isSleeping = false
        while (!isSleeping) {
          const killed = await sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and query like '%pg_sleep(60)%' and pid <> pg_backend_pid()`
          isSleeping = killed.length > 0
        }
        expect(await halfway).toBeInstanceOf(Error)
        await client.end({ timeout: 1 })
        expect(await sql`select to_regnamespace('holdfast') as schema`).toEqual([{ schema: null }])
        const host = server.host({ url })
        await host.ping()
        await host.close()
        expect(await sql`select version from holdfast.migrations order by version`).toEqual(EVERY_VERSION)
      })
    },
  )

  test('a process that waited for another one sees what that one did', { timeout: 60_000 }, async () => {
    await onEmptyDatabase(async (url, sql) => {
      const slow = MIGRATIONS.map((each) => ({ ...each, sql: `select pg_sleep(0.3);${each.sql}` }))
      const [first, second] = [postgres(url, { max: 1 }), postgres(url, { max: 1 })]
      const migrate = (client: postgres.Sql, migrations: typeof slow) =>
        migrateSchema(postgresConnection(client, { prepare: true, ownsClient: true }), {
          schema: 'holdfast',
          migrations,
        })
      await second`select 1`
      const migrating = migrate(first, slow)
      while ((await sql`select 1 from pg_locks where locktype = 'advisory'`).length === 0) await wait(5)
      await Promise.all([migrating, migrate(second, [...MIGRATIONS])])
      expect(await sql`select version from holdfast.migrations order by version`).toEqual(EVERY_VERSION)
      await Promise.all([first.end(), second.end()])
    })
  })

  test('a schema of a newer version is refused', async () => {
    await onEmptyDatabase(async (url, sql) => {
      const first = server.host({ url })
      await first.ping()
      await sql`insert into holdfast.migrations values (1000, 'later', 0)`
      await expect(server.host({ url }).ping()).rejects.toMatchObject({ code: 'STORE_SCHEMA_NEWER' })
      await first.close()
    })
  })

  test('without migrate the missing schema is named and not made', async () => {
    await onEmptyDatabase(async (url, sql) => {
      await expect(server.host({ url, migrate: false }).ping()).rejects.toMatchObject({ code: 'STORE_SCHEMA_MISSING' })
      expect(await sql`select to_regnamespace('holdfast') as schema`).toEqual([{ schema: null }])
    })
  })

  test('two schemas of one database are apart', { timeout: 30_000 }, async () => {
    await onEmptyDatabase(async (url) => {
      const [one, two] = [server.host({ url, schema: 'One more' }), server.host({ url, schema: 'two.3' })]
      await Promise.all([one.metadata.set('space', 'key', 1), two.metadata.set('space', 'key', 2)])
      await one.drivers.claim({ runId: 'run', threadId: 'thread', owner: 'me', ttlMs: 1 })
      expect(await one.metadata.get('space', 'key')).toBe(1)
      expect(await two.runs.get('run')).toBeNull()
      await Promise.all([one.close(), two.close()])
    })
  })

  test.each(MIGRATIONS.slice(0, -1))('an upgrade from version $version keeps data', async ({ version }) => {
    await onEmptyDatabase(async (url, sql) => {
      const connection = postgresConnection(sql, { prepare: false, ownsClient: false })
      const before = MIGRATIONS.filter((migration) => migration.version <= version)
      await migrateSchema(connection, { schema: 'holdfast', migrations: before })
      await sql`insert into holdfast.runs (run_id, thread_id, status, started_at) values ('run', 'thread', 'completed', 7)`
      await sql`insert into holdfast.messages values ('thread', 0, '{"role":"user","content":"hello"}')`
      await sql`insert into holdfast.run_logs (run_id, tail) values ('run', 3)`
      await sql`
        insert into holdfast.run_events
        select log_id, 1, 3, ${CHUNKS.map((chunk) => JSON.stringify(chunk)).join('\n')} from holdfast.run_logs`
      await sql`
        insert into holdfast.sandbox_instances (key, provider, provider_sandbox_id, thread_id, updated_at, state)
        values ('key', 'provider', 'sandbox', 'thread', 1, 'condemned')`
      const host = server.host({ url })
      expect(await host.runs.get('run')).toEqual({
        runId: 'run',
        threadId: 'thread',
        status: 'completed',
        startedAt: 7,
      })
      expect(await host.messages.loadThread('thread')).toEqual([{ role: 'user', content: 'hello' }])
      const events = await host.eventLog.open({ runId: 'run' }).snapshot()
      expect(events.map(({ chunk }) => chunk)).toEqual(CHUNKS)
      expect((await host.instances.list?.({ state: 'condemned' }))?.records.map(({ key }) => key)).toEqual(['key'])
      await host.close()
    })
  })
})
