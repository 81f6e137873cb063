import { join } from 'node:path'
import type { HoldfastStores } from '@holdfast/core'
import { createEmbeddedStores, createPostgresStores } from '@holdfast/store-drizzle'
import { dataDir } from './data-dir.ts'
import { perProcess } from './per-process.ts'

/**
 * PostgreSQL with `DATABASE_URL`, which several replicas may share; else a database of this process in a folder. Opened
 * by its first use; an opening that fails is tried again by the next use.
 */
export function stores(): HoldfastStores {
  return perProcess('stores', () => {
    const url = process.env['DATABASE_URL']
    return url ? createPostgresStores({ url }) : createEmbeddedStores({ dir: join(dataDir, 'db') })
  })
}
