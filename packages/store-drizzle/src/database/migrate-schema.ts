import { createHash } from 'node:crypto'
import { StoreError } from '@holdfast/core'
import { MIGRATIONS } from '../migrations/migration-list.ts'
import type { Migration } from '../migrations/migration-list.ts'
import { number } from './row.ts'
import type { SqlExecutor } from './sql-executor.ts'
import { inSchema, quoteIdentifier } from './statement.ts'

/**
 * Reads the catalog's tables, because `to_regclass` may answer from what the session remembers: after waiting for another
 * process's migration it would still say that there is nothing.
 */
const FIND_TABLE = `
  select 1 as found
  from pg_catalog.pg_class table_
  join pg_catalog.pg_namespace schema_ on schema_.oid = table_.relnamespace
  where schema_.nspname = $1::text and table_.relname = 'migrations'
`

export interface SchemaVersion {
  /** 0 when the schema is not there. */
  current: number
  /** What this version of the package needs. */
  wanted: number
}

export interface MigrateOptions {
  schema: string
  /** Defaults to what the package ships. */
  migrations?: readonly Migration[]
}

/**
 * Brings the schema to this package's version. Any number of processes may call it at once: they take turns on a lock
 * that ends with the transaction. `STORE_SCHEMA_NEWER` when a newer version of the package was here. Repeatable.
 */
export async function migrateSchema(executor: SqlExecutor, options: MigrateOptions): Promise<SchemaVersion> {
  const { schema, migrations = MIGRATIONS } = options
  const before = await readVersion(executor, schema, migrations)
  if (before.current === before.wanted) return before
  return executor.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1::int, $2::int)', lockKey(schema))
    const { current, wanted } = await readVersion(tx, schema, migrations)
    if (current === 0) await createSchema(tx, schema)
    for (const migration of migrations.filter(({ version }) => version > current)) await apply(tx, schema, migration)
    return { current: wanted, wanted }
  })
}

/** `STORE_SCHEMA_NEWER`, `STORE_SCHEMA_MISSING`: nothing is changed. */
export async function assertSchema(executor: SqlExecutor, schema: string): Promise<void> {
  const { current, wanted } = await readVersion(executor, schema)
  if (current === wanted) return
  const message = `Schema "${schema}" is at version ${current}, but version ${wanted} is needed. Run \`holdfast-store migrate\`.`
  throw new StoreError('STORE_SCHEMA_MISSING', message, { details: { current, wanted } })
}

export async function readVersion(
  executor: SqlExecutor,
  schema: string,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<SchemaVersion> {
  const wanted = migrations.at(-1)?.version ?? 0
  const found = await executor.query(FIND_TABLE, [schema])
  if (found.length === 0) return { current: 0, wanted }
  const table = `${quoteIdentifier(schema)}.migrations`
  const [row] = await executor.query(`select coalesce(max(version), 0) as version from ${table}`, [])
  const current = row === undefined ? 0 : number(row, 'version')
  if (current > wanted) throw schemaNewer(schema, current, wanted)
  return { current, wanted }
}

async function createSchema(tx: SqlExecutor, schema: string): Promise<void> {
  const found = await tx.query('select 1 as found from pg_catalog.pg_namespace where nspname = $1::text', [schema])
  if (found.length === 0) await tx.script(`create schema ${quoteIdentifier(schema)}`)
}

async function apply(tx: SqlExecutor, schema: string, { version, name, sql }: Migration): Promise<void> {
  await tx.script(inSchema(sql, schema))
  await tx.query(
    `insert into ${quoteIdentifier(schema)}.migrations (version, name, applied_at) values ($1, $2, extract(epoch from now()) * 1000)`,
    [version, name],
  )
}

function schemaNewer(schema: string, current: number, wanted: number): StoreError {
  const message = `Schema "${schema}" is at version ${current}, newer than this package knows (${wanted}). Upgrade @holdfast/store-drizzle.`
  return new StoreError('STORE_SCHEMA_NEWER', message, { details: { current, wanted } })
}

/** Two numbers that no other program is likely to lock. */
function lockKey(schema: string): [number, number] {
  const digest = createHash('sha256').update(`holdfast migrations ${schema}`).digest()
  return [digest.readInt32BE(0), digest.readInt32BE(4)]
}
