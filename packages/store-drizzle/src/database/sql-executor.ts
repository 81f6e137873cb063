import type { PlanTime, Row, SqlValue } from './statement.ts'

/** The little that the stores need of a driver. Inside `transaction` only the executor it hands out may be used. */
export interface SqlExecutor {
  query: (text: string, params: readonly SqlValue[], planned?: PlanTime) => Promise<readonly Row[]>
  /** Several statements without parameters. */
  script: (text: string) => Promise<void>
  transaction: <T>(work: (tx: SqlExecutor) => Promise<T>) => Promise<T>
}

/** An executor with a life of its own. */
export interface SqlConnection extends SqlExecutor {
  close: () => Promise<void>
}
