import type { PGlite, Transaction } from '@electric-sql/pglite'
import type { SqlConnection, SqlExecutor } from './sql-executor.ts'

/** PGlite has one session and queues what comes from outside while a transaction runs. */
export function pgliteConnection(pglite: PGlite, close: () => Promise<void>): SqlConnection {
  return {
    ...executor(pglite),
    transaction: <T>(work: (tx: SqlExecutor) => Promise<T>) => pglite.transaction((tx) => work(executor(tx))),
    close,
  }
}

function executor(session: PGlite | Transaction): SqlExecutor {
  return {
    query: async (text, params) => {
      const { rows } = await session.query<Record<string, unknown>>(text, [...params])
      return rows
    },
    script: async (text) => {
      await session.exec(text)
    },
    transaction: () => Promise.reject(new Error('A transaction cannot be opened inside another one.')),
  }
}
