import { InvalidInputError, systemClock } from '@holdfast/core'
import type { Clock } from '@holdfast/core'
import type { Options, PostgresType, Sql } from 'postgres'
import { createSqlStores } from './create-sql-stores.ts'
import type { SqlStores } from './create-sql-stores.ts'
import { importPeer } from './database/missing-peer.ts'
import { assertSchema, migrateSchema } from './database/migrate-schema.ts'
import type { PostgresClient } from './database/postgres-client.ts'
import { postgresConnection } from './database/postgres-executor.ts'
import type { SqlConnection } from './database/sql-executor.ts'
import { PostgresWakes } from './wake/postgres-wakes.ts'
import type { ListenHooks } from './wake/postgres-wakes.ts'

/** How the stores reach PostgreSQL. */
export interface PostgresStoresOptions {
  /** `postgres://user:password@host:port/database`. Give this or `sql`. */
  url?: string
  /** The app's own postgres.js client. It stays open when the stores close. */
  sql?: PostgresClient
  /** PostgreSQL schema that holds the tables. Default `holdfast`. */
  schema?: string
  /** Connections of the pool for `url`, without the one that listens. Default 10. */
  max?: number
  /** True when a pooler in transaction mode stands in between. Found out when left out. */
  pooled?: boolean
  /** False polls instead of holding a connection for LISTEN. Default true, but false behind a pooler. */
  listen?: boolean
  /** False never changes the schema: `STORE_SCHEMA_MISSING` until `holdfast-store migrate` ran. Default true. */
  migrate?: boolean
  /** Largest blob. Default 256 MiB. */
  maxBlobBytes?: number
  /** How long a lock outlives a holder that died. Default 30 s. */
  lockTtlMs?: number
  clock?: Clock
}

const DEFAULT_SCHEMA = 'holdfast'
const DEFAULT_MAX = 10
const CONNECT_TIMEOUT_S = 10
/** postgres.js would wait up to 20 s by itself; the stores decide how patient they are. */
const RECONNECT_AFTER_S = 0.05

/**
 * Stores on PostgreSQL through postgres.js. Makes no connection before the first call, which also migrates; a start that
 * failed is tried again by the next call. `PEER_MISSING` when the package `postgres` is not installed.
 */
export function createPostgresStores(options: PostgresStoresOptions): SqlStores {
  assertOptions(options)
  const { schema = DEFAULT_SCHEMA, clock = systemClock, lockTtlMs, maxBlobBytes } = options
  const server = new PostgresServer(options, schema)
  return createSqlStores({
    backend: 'postgres',
    schema,
    clock,
    locks: lockTtlMs === undefined ? {} : { ttlMs: lockTtlMs },
    ...(maxBlobBytes !== undefined && { maxBlobBytes }),
    open: () => server.open(),
    remote: (channel, notify) => new PostgresWakes({ channel, notify, connect: (hooks) => server.openListener(hooks) }),
  })
}

type ClientOptions = Options<Record<string, PostgresType>>

class PostgresServer {
  readonly #options: PostgresStoresOptions
  readonly #schema: string
  #isPooled: boolean | undefined

  constructor(options: PostgresStoresOptions, schema: string) {
    this.#options = options
    this.#schema = schema
    this.#isPooled = options.pooled
  }

  async open(): Promise<SqlConnection> {
    const { sql: appClient, max = DEFAULT_MAX, migrate = true } = this.#options
    const client = appClient === undefined ? await this.#client({ max }) : (appClient as Sql)
    try {
      this.#isPooled ??= await isPooled(client)
      const connection = postgresConnection(client, { prepare: !this.#isPooled, ownsClient: appClient === undefined })
      if (migrate) await migrateSchema(connection, { schema: this.#schema })
      else await assertSchema(connection, this.#schema)
      return connection
    } catch (error) {
      if (appClient === undefined) await client.end({ timeout: 0 })
      throw error
    }
  }

  /** Undefined where LISTEN cannot work or is not wanted. Opened after the first statement, so the pooler is known. */
  async openListener(hooks: ListenHooks): Promise<Sql | undefined> {
    if (this.#options.listen === false) return undefined
    this.#isPooled ??= await this.#askIfPooled()
    if (this.#isPooled && this.#options.listen !== true) return undefined
    return this.#client({ max: 1, idle_timeout: 0, max_lifetime: null, ...hooks })
  }

  async #askIfPooled(): Promise<boolean> {
    const client = await this.#client({ max: 1 })
    try {
      return await isPooled(client)
    } finally {
      await client.end({ timeout: 0 })
    }
  }

  async #client(more: ClientOptions & Partial<ListenHooks>): Promise<Sql> {
    const { default: postgres } = await importPeer('postgres', () => import('postgres'))
    const { url, sql } = this.#options
    const quiet: ClientOptions = { onnotice: () => {}, fetch_types: false, ...more }
    if (sql !== undefined) return postgres({ ...(sql.options as unknown as ClientOptions), ...quiet })
    const connection = { application_name: 'holdfast' }
    const own = { connect_timeout: CONNECT_TIMEOUT_S, backoff: () => RECONNECT_AFTER_S, connection }
    return postgres(url as string, { ...own, ...quiet } as ClientOptions)
  }
}

/** A pooler makes up the process id that it greets with; a server gives its own. */
async function isPooled(client: Sql): Promise<boolean> {
  const result = await client.unsafe('select pg_backend_pid() as pid', [], { prepare: false })
  const { pid } = result.state as unknown as { pid: number }
  return Number(Object.values(result[0] ?? {})[0]) !== pid
}

function assertOptions({ url, sql, max, lockTtlMs, schema }: PostgresStoresOptions): void {
  const faults: string[] = []
  if ((url === undefined) === (sql === undefined)) faults.push('give either url or sql')
  if (url !== undefined && !/^postgres(ql)?:\/\//.test(url)) faults.push('url must begin with postgres://')
  if (max !== undefined && !(Number.isInteger(max) && max > 0)) faults.push('max must be a whole number above 0')
  if (lockTtlMs !== undefined && !(lockTtlMs >= 100)) faults.push('lockTtlMs must be 100 or more')
  if (schema !== undefined && !/^[^\0'"]{1,63}$/.test(schema))
    faults.push('schema must have 1 to 63 characters and no quotes')
  if (faults.length === 0) return
  throw new InvalidInputError('INVALID_CONFIGURATION', `PostgreSQL stores: ${faults.join('; ')}.`)
}
