import { PGlite } from '@electric-sql/pglite'
import type { Clock, HoldfastStores } from '@holdfast/core'
import type { ConformanceTarget, StoreSubject } from '@holdfast/testing'
import { createSqlStores } from '../../src/create-sql-stores.ts'
import { migrateSchema } from '../../src/database/migrate-schema.ts'
import { pgliteConnection } from '../../src/database/pglite-executor.ts'
import { MAX_BLOB_BYTES } from './blob-limit.ts'
import { EMPTY_STORES, MOVABLE_TIME, MOVE_TIME } from './movable-time.ts'
import { openSubject } from './open-subject.ts'

/** One PGlite for a file of tests, because starting one takes seconds; its tables are emptied for each case. */
export function pgliteTarget(): { target: ConformanceTarget<StoreSubject>; stop: () => Promise<void> } {
  let started: Promise<PGlite> | undefined
  const target: ConformanceTarget<StoreSubject> = {
    name: 'PGlite',
    has: (need) => (need === 'concurrent' ? 'PGlite has one session, which proves nothing about contention' : true),
    open: async () => {
      started ??= start()
      const pglite = await started
      await pglite.exec(EMPTY_STORES)
      return openSubject(
        (clock) => storesOn(pglite, clock),
        (ms) => pglite.query(MOVE_TIME, [ms]),
      )
    },
  }
  return { target, stop: async () => (await started)?.close() }
}

async function start(): Promise<PGlite> {
  const pglite = await PGlite.create()
  await migrateSchema(
    pgliteConnection(pglite, async () => {}),
    { schema: 'holdfast' },
  )
  await pglite.exec(MOVABLE_TIME)
  return pglite
}

function storesOn(pglite: PGlite, clock: Clock): HoldfastStores {
  return createSqlStores({
    backend: 'pglite',
    schema: 'holdfast',
    clock,
    locks: {},
    maxBlobBytes: MAX_BLOB_BYTES,
    open: () => Promise.resolve(pgliteConnection(pglite, async () => {})),
  })
}
