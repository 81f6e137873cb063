import { join } from 'node:path'
import type { HoldfastStores } from '@holdfast/core'
import { createEmbeddedStores, createPostgresStores } from '@holdfast/store-drizzle'
import { dataDir } from './data-dir.ts'
import { perProcess } from './per-process.ts'

/** PostgreSQL with `DATABASE_URL`, which several replicas may share; else a database of this process in a folder. */
export function stores(): Promise<HoldfastStores> {
  return perProcess('stores', async () => {
    const url = process.env['DATABASE_URL']
    if (url) return createPostgresStores({ url })
    return createEmbeddedStores({ dir: join(dataDir, 'db') })
  })
}
