import type { PendingQuery, Row as DriverRow, Sql, TransactionSql } from 'postgres'
import type { SqlConnection, SqlExecutor } from './sql-executor.ts'
import { outcomeOf } from './sql-errors.ts'
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
    transaction: (work) => runTransaction(sql, options.prepare, work),
    close: async () => {
      if (options.ownsClient) await sql.end({ timeout: CLOSE_TIMEOUT_S })
    },
  }
}

/** Nothing of the stores runs any more; a connection that the server cut off would never say goodbye. */
const CLOSE_TIMEOUT_S = 0.2

function executor(sql: Client, prepare: boolean): SqlExecutor {
  return {
    query: async (text, params, planned = 'once') => {
      // Only a named statement outlives its call, and its plan with it.
      const isNamed = prepare && planned === 'once'
      const pending = sql.unsafe(text, params as SqlValue[], { prepare: isNamed }) as PendingQuery<DriverRow[]>
      const result = await pending
      return result.map(plainRow)
    },
    script: async (text) => {
      await sql.unsafe(text).simple()
    },
    transaction: () => Promise.reject(new Error('A transaction cannot be opened inside another one.')),
  }
}

/**
 * postgres.js (3.4.9) answers a failed transaction with a ROLLBACK, which crashes the process when the connection has
 * gone (github.com/porsager/postgres/issues/1208). So work whose connection is lost never settles for it: `begin` then
 * ends by itself when the connection closes. Measured by "a migration that is killed halfway".
 */
async function runTransaction<T>(sql: Sql, prepare: boolean, work: (tx: SqlExecutor) => Promise<T>): Promise<T> {
  let isOver = false
  try {
    return (await sql.begin((tx) => {
      const inside = executor(tx, prepare)
      const query: SqlExecutor['query'] = (...call) =>
        isOver ? Promise.reject(new ConnectionLostError()) : inside.query(...call)
      return work({ ...inside, query }).catch((error: unknown) =>
        isConnectionLost(error) ? unsettled() : rejected(error),
      )
    })) as T
  } finally {
    isOver = true
  }
}

function unsettled(): Promise<never> {
  return new Promise(() => {})
}

function rejected(error: unknown): Promise<never> {
  return Promise.reject(error as Error)
}

function isConnectionLost(error: unknown): boolean {
  return outcomeOf(error) === 'unknown'
}

/** A statement that came after its transaction had ended with the connection. */
class ConnectionLostError extends Error {
  readonly code = 'CONNECTION_CLOSED'
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
