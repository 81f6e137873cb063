import { startPostgres } from '@holdfast/testing'
import type { TestPostgres } from '@holdfast/testing'
import postgres from 'postgres'
import type { Sql } from 'postgres'
import { createPostgresStores } from '../../src/index.ts'
import type { PostgresStoresOptions, SqlStores } from '../../src/index.ts'

/** A server with one database, stores as many hosts would have them, and a session of the test's own. */
export class ConcurrencyServer {
  readonly postgres: TestPostgres
  readonly admin: Sql
  readonly #opened: SqlStores[] = []

  private constructor(server: TestPostgres) {
    this.postgres = server
    this.admin = postgres(server.url, { max: 2, onnotice: () => {} })
  }

  static async start(settings: Record<string, string | number | boolean> = {}): Promise<ConcurrencyServer> {
    const server = new ConcurrencyServer(await startPostgres({ settings }))
    const first = server.host()
    await first.ping()
    return server
  }

  /** Stores on connections of their own, as another process has them. */
  host(options: Partial<PostgresStoresOptions> = {}): SqlStores {
    const address = options.sql === undefined ? { url: this.postgres.url } : {}
    const stores = createPostgresStores({ ...address, max: 2, ...options })
    this.#opened.push(stores)
    return stores
  }

  hosts(count: number, options: Partial<PostgresStoresOptions> = {}): SqlStores[] {
    return Array.from({ length: count }, () => this.host(options))
  }

  async stop(): Promise<void> {
    await Promise.allSettled(this.#opened.map((stores) => stores.close()))
    await this.admin.end({ timeout: 1 })
    await this.postgres.stop()
  }
}

/** `STORM=100` repeats each storm; one short round is enough for every run. */
export const ROUNDS = Math.max(1, Number(process.env['STORM'] ?? 1))
