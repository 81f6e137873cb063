import { createHash, randomUUID } from 'node:crypto'
import postgres from 'postgres'

/** A database of its own on a test server. */
export interface PostgresDatabase {
  readonly name: string
  readonly url: string
  /** Ends its connections and removes it. Repeatable. */
  drop: () => Promise<void>
}

/** The template that a database is cloned from, and how it is made. */
export interface CloneTemplateInput {
  /** Names what `prepare` makes, its version included: the same key gives the same template. */
  key: string
  /** Fills the template, once per server. It must close its connections. */
  prepare: (url: string) => Promise<void>
}

/** Makes databases on one server. */
export interface PostgresDatabases {
  /** An empty database, or a copy of the database called `template`, to which nobody may be connected. */
  createDatabase: (options?: { template?: string }) => Promise<PostgresDatabase>
  /** A copy of a template that is prepared when it is first asked for, also when several processes ask at once. */
  cloneTemplate: (input: CloneTemplateInput) => Promise<PostgresDatabase>
}

type Sql = postgres.Sql

/** For a server that runs already, by the URL of one of its databases. */
export function postgresDatabases(serverUrl: string): PostgresDatabases {
  async function create(sql: Sql, name: string, template: string): Promise<PostgresDatabase> {
    await sql`create database ${sql(name)} template ${sql(template)}`
    return { name, url: databaseUrl(serverUrl, name), drop: () => withAdmin(serverUrl, (admin) => drop(admin, name)) }
  }
  return {
    createDatabase: ({ template = 'template1' } = {}) =>
      withAdmin(serverUrl, (sql) => create(sql, freshName(), template)),
    cloneTemplate: ({ key, prepare }) =>
      withAdmin(serverUrl, async (sql) => {
        const template = await ensureTemplate(sql, serverUrl, key, prepare)
        return create(sql, freshName(), template)
      }),
  }
}

/** The lock belongs to the session, so a process that dies while it prepares does not block the others. */
async function ensureTemplate(
  sql: Sql,
  serverUrl: string,
  key: string,
  prepare: CloneTemplateInput['prepare'],
): Promise<string> {
  const name = `template_${createHash('sha256').update(key).digest('hex').slice(0, 24)}`
  await sql`select pg_advisory_lock(hashtextextended(${name}, 0))`
  const found = await sql`select 1 from pg_database where datname = ${name}`
  if (found.length === 0) {
    const unfinished = `${name}_unfinished`
    await drop(sql, unfinished)
    await sql`create database ${sql(unfinished)}`
    await prepare(databaseUrl(serverUrl, unfinished))
    await sql`alter database ${sql(unfinished)} rename to ${sql(name)}`
  }
  await sql`select pg_advisory_unlock(hashtextextended(${name}, 0))`
  return name
}

/** One connection, because an advisory lock belongs to it. */
async function withAdmin<T>(serverUrl: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = postgres(databaseUrl(serverUrl, 'postgres'), { max: 1, onnotice: () => {} })
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}

async function drop(sql: Sql, name: string): Promise<void> {
  await sql`drop database if exists ${sql(name)} with (force)`
}

function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${encodeURIComponent(name)}`
  return url.href
}

function freshName(): string {
  return `test_${randomUUID().replaceAll('-', '')}`
}
