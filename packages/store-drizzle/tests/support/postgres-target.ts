import { startPostgres } from '@holdfast/testing'
import type { ConformanceTarget, PostgresVersion, StoreSubject, TestPostgres } from '@holdfast/testing'
import postgres from 'postgres'
import type { Sql } from 'postgres'
import { createPostgresStores } from '../../src/index.ts'
import type { PostgresStoresOptions } from '../../src/index.ts'
import { MAX_BLOB_BYTES } from './blob-limit.ts'
import { EMPTY_STORES, MOVABLE_TIME, MOVE_TIME } from './movable-time.ts'
import { openSubject } from './open-subject.ts'

export interface PostgresTargetOptions {
  version?: PostgresVersion
  stores?: Partial<PostgresStoresOptions>
}

/** A server for a file of tests and stores on it that start empty for each case. */
export function postgresTarget({ version = 18, stores = {} }: PostgresTargetOptions = {}): {
  target: ConformanceTarget<StoreSubject>
  stop: () => Promise<void>
} {
  let server: Promise<{ postgres: TestPostgres; admin: Sql }> | undefined
  const target: ConformanceTarget<StoreSubject> = {
    name: `PostgreSQL ${version}${Object.keys(stores).length > 0 ? ` ${JSON.stringify(stores)}` : ''}`,
    has: () => true,
    open: async () => {
      server ??= startServer(version)
      const { postgres: running, admin } = await server
      await admin.unsafe(EMPTY_STORES).simple()
      return openSubject(
        (clock) => createPostgresStores({ url: running.url, clock, max: 4, maxBlobBytes: MAX_BLOB_BYTES, ...stores }),
        (ms) => admin.unsafe(MOVE_TIME, [ms]),
      )
    },
  }
  return {
    target,
    stop: async () => {
      const running = await server
      await running?.admin.end()
      await running?.postgres.stop()
    },
  }
}

async function startServer(version: PostgresVersion): Promise<{ postgres: TestPostgres; admin: Sql }> {
  const running = await startPostgres({ version })
  const first = createPostgresStores({ url: running.url })
  await first.ping()
  await first.close()
  const admin = postgres(running.url, { max: 1, onnotice: () => {} })
  await admin.unsafe(MOVABLE_TIME).simple()
  return { postgres: running, admin }
}
