import { setMaxListeners } from 'node:events'
import { setTimeout as realDelay } from 'node:timers/promises'
import type { SqlConnection, SqlExecutor } from './sql-executor.ts'
import { outcomeOf, storeClosed, storeError } from './sql-errors.ts'
import { StatementTexts } from './statement.ts'
import type { Row, SqlValue, Statement } from './statement.ts'

/** Runs single statements: on the pool, or inside a transaction. */
export interface StatementRunner {
  rows: (statement: Statement, params?: readonly SqlValue[]) => Promise<readonly Row[]>
  row: (statement: Statement, params?: readonly SqlValue[]) => Promise<Row | undefined>
}

/** Waits between tries of what may be repeated: together about as long as a server takes to restart. */
const RETRY_AFTER_MS = [0, 50, 150, 400, 1_000, 2_000, 3_000]

/**
 * Runs statements on a connection that is opened by the first of them. An opening that failed is tried again by the
 * next call. Repeats what is safe to repeat and tells apart what is not.
 */
export class Database {
  readonly #open: () => Promise<SqlConnection>
  readonly #texts: StatementTexts
  readonly #running = new Set<Promise<unknown>>()
  #connection: Promise<SqlConnection> | undefined
  readonly #closing = new AbortController()

  constructor(schema: string, open: () => Promise<SqlConnection>) {
    this.#texts = new StatementTexts(schema)
    this.#open = open
    // Everybody who waits for a lock listens to it, however many they are.
    setMaxListeners(0, this.#closing.signal)
  }

  async rows(statement: Statement, params: readonly SqlValue[] = []): Promise<readonly Row[]> {
    this.assertOpen()
    return this.#tracked(this.#query(statement, params))
  }

  async row(statement: Statement, params: readonly SqlValue[] = []): Promise<Row | undefined> {
    const [first] = await this.rows(statement, params)
    return first
  }

  /** `repeatable` says whether the whole work may run once more when its commit's reply was lost. */
  async transaction<T>(work: (tx: StatementRunner) => Promise<T>, options: { repeatable: boolean }): Promise<T> {
    this.assertOpen()
    const attempt = (connection: SqlConnection): Promise<T> => connection.transaction((tx) => work(this.#inside(tx)))
    return this.#tracked(this.#attemptPatiently(options.repeatable, attempt))
  }

  /** Work of several statements that a close waits for, also when it is still queued. */
  async hold<T>(work: (held: StatementRunner) => Promise<T>): Promise<T> {
    this.assertOpen()
    const rows: StatementRunner['rows'] = (statement, params = []) => this.#query(statement, params)
    return this.#tracked(work(runner(rows)))
  }

  assertOpen(): void {
    if (this.#closing.signal.aborted) throw storeClosed()
  }

  /** For what a close itself has to send: not refused between `beginClose` and `close`. */
  async lastRows(statement: Statement, params: readonly SqlValue[] = []): Promise<readonly Row[]> {
    return this.#tracked(this.#query(statement, params))
  }

  /** Aborts with `STORE_CLOSED` when a close begins. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /** From now on calls are refused; what is under way goes on. */
  beginClose(): void {
    this.#closing.abort(storeClosed())
  }

  async close(): Promise<void> {
    this.beginClose()
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
    const connection = this.#connection
    this.#connection = undefined
    if (connection === undefined) return
    const [opened] = await Promise.allSettled([connection])
    if (opened.status === 'fulfilled') await opened.value.close()
  }

  #inside(tx: SqlExecutor): StatementRunner {
    return runner((statement, params = []) => tx.query(this.#texts.of(statement), params, statement.planned))
  }

  #query(statement: Statement, params: readonly SqlValue[]): Promise<readonly Row[]> {
    const text = this.#texts.of(statement)
    return this.#attemptPatiently(statement.repeatable, (connection) =>
      connection.query(text, params, statement.planned),
    )
  }

  async #tracked<T>(running: Promise<T>): Promise<T> {
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
    }
  }

  async #attemptPatiently<T>(isRepeatable: boolean, work: (connection: SqlConnection) => Promise<T>): Promise<T> {
    let isInDoubt = false
    for (let tries = 1; ; tries += 1) {
      try {
        return await work(await this.#connected())
      } catch (error) {
        const outcome = outcomeOf(error)
        isInDoubt ||= outcome === 'unknown'
        const waitMs = RETRY_AFTER_MS[tries]
        const mayRepeat = outcome !== 'refused' && (isRepeatable || !isInDoubt)
        if (!mayRepeat || waitMs === undefined) throw storeError(error)
        await realDelay(waitMs)
      }
    }
  }

  #connected(): Promise<SqlConnection> {
    this.#connection ??= this.#connect()
    return this.#connection
  }

  #connect(): Promise<SqlConnection> {
    const connection = this.#open()
    connection.catch(() => {
      if (this.#connection === connection) this.#connection = undefined
    })
    return connection
  }
}

function runner(rows: StatementRunner['rows']): StatementRunner {
  return {
    rows,
    row: async (statement, params) => {
      const [first] = await rows(statement, params)
      return first
    },
  }
}
