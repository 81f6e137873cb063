export { createEmbeddedStores } from './create-embedded-stores.ts'
export type { EmbeddedStoresOptions } from './create-embedded-stores.ts'
export { createPostgresStores } from './create-postgres-stores.ts'
export type { PostgresStoresOptions } from './create-postgres-stores.ts'
