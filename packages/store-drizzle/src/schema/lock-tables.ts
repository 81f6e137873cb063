import { bigint, index, uuid } from 'drizzle-orm/pg-core'
import { epochMs, idText } from './columns.ts'
import { holdfastSchema } from './schema-name.ts'

/** One row per key that was ever locked. It stays after a release, because the token must keep growing. */
export const locks = holdfastSchema.table('locks', {
  key: idText().primaryKey(),
  token: bigint({ mode: 'number' }).notNull(),
  /** Null while free. */
  owner: uuid(),
  /** While free: when it became free. */
  expiresAt: epochMs('expires_at').notNull(),
})

/** Who waits for a lock, in order of arrival. A row that is not refreshed belongs to a dead process. */
export const lockWaiters = holdfastSchema.table(
  'lock_waiters',
  {
    waiter: uuid().primaryKey(),
    key: idText().notNull(),
    ticket: bigint({ mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    expiresAt: epochMs('expires_at').notNull(),
  },
  (table) => [index('lock_waiters_by_key').on(table.key, table.ticket)],
)
