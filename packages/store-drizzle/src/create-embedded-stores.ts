import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { InvalidInputError, systemClock } from '@holdfast/core'
import type { BlobStore, Clock } from '@holdfast/core'
import { fileBlobStore } from './content/file-blob-store.ts'
import { createSqlStores } from './create-sql-stores.ts'
import type { SqlStores } from './create-sql-stores.ts'
import { migrateSchema } from './database/migrate-schema.ts'
import { importPeer } from './database/missing-peer.ts'
import { pgliteConnection } from './database/pglite-executor.ts'
import type { SqlConnection } from './database/sql-executor.ts'
import { claimDirectory } from './embedded/directory-guard.ts'
import { openDatabase } from './embedded/open-database.ts'

/** Where embedded stores keep their data. */
export interface EmbeddedStoresOptions {
  /** Made when it is missing. One process at a time: `STORE_DIRECTORY_IN_USE`. */
  dir: string
  /** Where bytes are kept. Default: files in `<dir>/blobs`. */
  blobs?: BlobStore
  /** Largest blob, for the default. Default 256 MiB. */
  maxBlobBytes?: number
  /** How long a lock outlives a holder that died. Default 30 s. */
  lockTtlMs?: number
  clock?: Clock
}

const SCHEMA = 'holdfast'

/**
 * Stores in a directory, on PGlite, for one process and no service. Opens nothing before the first call; a start that
 * failed is tried again by the next call. `PEER_MISSING` when `@electric-sql/pglite` is not installed, `STORE_FAILED`
 * with the path when the database cannot be opened.
 */
export function createEmbeddedStores(options: EmbeddedStoresOptions): SqlStores {
  const { dir, lockTtlMs, maxBlobBytes, clock = systemClock } = options
  if (typeof dir !== 'string' || dir === '') {
    throw new InvalidInputError('INVALID_CONFIGURATION', 'Embedded stores: dir must name a directory.')
  }
  const directory = resolve(dir)
  return createSqlStores({
    backend: 'pglite',
    schema: SCHEMA,
    clock,
    locks: lockTtlMs === undefined ? {} : { ttlMs: lockTtlMs },
    blobs: (assertOpen) =>
      options.blobs ??
      fileBlobStore(join(directory, 'blobs'), {
        clock,
        assertOpen,
        ...(maxBlobBytes !== undefined && { maxBlobBytes }),
      }),
    open: () => openDirectory(directory),
  })
}

async function openDirectory(directory: string): Promise<SqlConnection> {
  const driver = await importPeer('@electric-sql/pglite', () => import('@electric-sql/pglite'))
  await mkdir(directory, { recursive: true })
  const releaseDirectory = await claimDirectory(directory)
  let pglite: PGlite | undefined
  const close = async (): Promise<void> => {
    try {
      await pglite?.close()
    } finally {
      await releaseDirectory()
    }
  }
  try {
    pglite = await openDatabase(directory, (path) => driver.PGlite.create(path))
    const connection = pgliteConnection(pglite, close)
    await migrateSchema(connection, { schema: SCHEMA })
    return connection
  } catch (error) {
    // Two that have the directory open would write over each other, and the next call opens it again.
    await Promise.allSettled([close()])
    throw error
  }
}
