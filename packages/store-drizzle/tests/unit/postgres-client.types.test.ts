import postgres from 'postgres'
import { createPostgresStores } from '../../src/index.ts'

// A client of postgres.js is what the option takes, and nothing else is.
createPostgresStores({ sql: postgres('postgres://localhost/app') })
createPostgresStores({ sql: postgres('postgres://localhost/app', { types: { bigint: postgres.BigInt } }) })
// @ts-expect-error a URL belongs in `url`
createPostgresStores({ sql: 'postgres://localhost/app' })
