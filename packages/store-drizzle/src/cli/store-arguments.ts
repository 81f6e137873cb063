import { InvalidInputError } from '@holdfast/core'
import { createEmbeddedStores } from '../create-embedded-stores.ts'
import { createPostgresStores } from '../create-postgres-stores.ts'
import type { SqlStores } from '../create-sql-stores.ts'

/** Where the store is, the same for every command. The URL is best left to the environment: it holds a password. */
export const storeArguments = {
  url: { type: 'string', description: 'postgres://… (default: DATABASE_URL)' },
  dir: { type: 'string', description: 'directory of an embedded store, instead of a URL' },
  schema: { type: 'string', description: 'PostgreSQL schema', default: 'holdfast' },
  json: { type: 'boolean', description: 'print JSON', default: false },
} as const

export interface StoreArguments {
  url?: string | undefined
  dir?: string | undefined
  schema: string
  json: boolean
}

/** Opens the stores for one piece of work and closes them, whatever it comes to. */
export async function withStores<T>(
  args: StoreArguments,
  options: { migrate: boolean },
  work: (stores: SqlStores) => Promise<T>,
): Promise<T> {
  const stores = openStores(args, options)
  try {
    return await work(stores)
  } finally {
    await stores.close()
  }
}

function openStores({ url, dir, schema }: StoreArguments, { migrate }: { migrate: boolean }): SqlStores {
  if (dir !== undefined && dir !== '') return createEmbeddedStores({ dir })
  const address = url ?? process.env['DATABASE_URL']
  if (address !== undefined && address !== '') return createPostgresStores({ url: address, schema, max: 2, migrate })
  throw new InvalidInputError('INVALID_CONFIGURATION', 'Say which store: set DATABASE_URL, or give --url or --dir.')
}
