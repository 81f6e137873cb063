import { FakeClock, startPostgres } from '@holdfast/testing'
import type { ConformanceTarget, PostgresVersion, StoreSubject, TestPostgres } from '@holdfast/testing'
import type { HoldfastStores } from '@holdfast/core'
import postgres from 'postgres'
import type { Sql } from 'postgres'
import { createPostgresStores } from '../../src/index.ts'
import type { PostgresStoresOptions } from '../../src/index.ts'
import { advanceBoth } from './advance-both.ts'
import { MAX_BLOB_BYTES } from './blob-limit.ts'
import { EMPTY_STORES, MOVABLE_TIME, MOVE_TIME } from './movable-time.ts'

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
      return openSubject(admin, (clock) =>
        createPostgresStores({ url: running.url, clock, max: 4, maxBlobBytes: MAX_BLOB_BYTES, ...stores }),
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

function openSubject(admin: Sql, create: (clock: FakeClock) => HoldfastStores) {
  const clock = new FakeClock()
  const opened: HoldfastStores[] = []
  const connect = (): HoldfastStores => {
    const stores = create(clock)
    opened.push(stores)
    return stores
  }
  let stores = connect()
  const subject: StoreSubject = {
    maxBlobBytes: MAX_BLOB_BYTES,
    get stores() {
      return stores
    },
    advance: (ms) =>
      advanceBoth(
        clock,
        async (step) => {
          await admin.unsafe(MOVE_TIME, [step])
        },
        ms,
      ),
    connect: () => Promise.resolve(connect()),
    reopen: async () => {
      await stores.close()
      stores = connect()
      return stores
    },
  }
  const dispose = async (): Promise<void> => {
    await Promise.all(opened.map((each) => each.close()))
  }
  return { subject, dispose }
}
