import { integer, text } from 'drizzle-orm/pg-core'
import { epochMs } from './columns.ts'
import { holdfastSchema } from './schema-name.ts'

/** Which migrations of this package the database has. Drizzle's own journal is an app's business. */
export const migrations = holdfastSchema.table('migrations', {
  version: integer().primaryKey(),
  name: text().notNull(),
  appliedAt: epochMs('applied_at').notNull(),
})
