import { sql } from 'drizzle-orm'
import { index, text } from 'drizzle-orm/pg-core'
import { epochMs, idText, jsonText } from './columns.ts'
import { holdfastSchema } from './schema-name.ts'

/** Which sandbox belongs to a key. */
export const sandboxInstances = holdfastSchema.table(
  'sandbox_instances',
  {
    key: idText().primaryKey(),
    provider: idText().notNull(),
    providerSandboxId: idText('provider_sandbox_id').notNull(),
    latestSnapshotId: idText('latest_snapshot_id'),
    threadId: idText('thread_id').notNull(),
    latestRunId: idText('latest_run_id'),
    updatedAt: epochMs('updated_at').notNull(),
    state: text(),
    labels: jsonText(),
  },
  (table) => [
    index('sandbox_instances_by_age').on(table.updatedAt, table.key),
    index('sandbox_instances_by_thread').on(table.threadId, table.updatedAt, table.key),
    index('sandbox_instances_unsettled')
      .on(table.state, table.updatedAt, table.key)
      .where(sql`${table.state} <> 'ready'`),
  ],
)
