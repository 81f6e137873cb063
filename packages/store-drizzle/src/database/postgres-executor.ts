import type { PendingQuery, Row as DriverRow, Sql, TransactionSql } from 'postgres'
import type { SqlConnection, SqlExecutor } from './sql-executor.ts'
import type { Row, SqlValue } from './statement.ts'

type Client = Sql | TransactionSql

export interface PostgresExecutorOptions {
  /** Named statements save a round trip, and need a connection that keeps its server process. */
  prepare: boolean
  /** False for a client that belongs to the app. */
  ownsClient: boolean
}

export function postgresConnection(sql: Sql, options: PostgresExecutorOptions): SqlConnection {
  return {
    ...executor(sql, options.prepare),
    transaction: <T>(work: (tx: SqlExecutor) => Promise<T>) =>
      sql.begin((tx) => work(executor(tx, options.prepare))) as Promise<T>,
    close: async () => {
      if (options.ownsClient) await sql.end({ timeout: CLOSE_TIMEOUT_S })
    },
  }
}

/** How long a close waits for statements that the stores did not know of. */
const CLOSE_TIMEOUT_S = 5

function executor(sql: Client, prepare: boolean): SqlExecutor {
  return {
    query: async (text, params) => {
      const pending = sql.unsafe(text, params as SqlValue[], { prepare }) as PendingQuery<DriverRow[]>
      const result = await pending
      return result.map(plainRow)
    },
    script: async (text) => {
      await sql.unsafe(text).simple()
    },
    transaction: () => Promise.reject(new Error('A transaction cannot be opened inside another one.')),
  }
}

/** An app's client may rename columns (camel, pascal, kebab); ours are all lower-case snake. */
function plainRow(row: DriverRow): Row {
  const names = Object.keys(row)
  if (names.every((name) => /^[a-z0-9_]+$/.test(name))) return row
  return Object.fromEntries(names.map((name) => [snakeCase(name), row[name] as unknown]))
}

function snakeCase(name: string): string {
  return name
    .replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    .replaceAll('-', '_')
    .replace(/^_/, '')
}
