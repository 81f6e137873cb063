import { index, integer, primaryKey, text } from 'drizzle-orm/pg-core'
import { epochMs, idText, jsonText } from './columns.ts'
import { holdfastSchema } from './schema-name.ts'

/** One row a conversation. */
export const threads = holdfastSchema.table(
  'threads',
  {
    threadId: idText('thread_id').primaryKey(),
    ownerId: idText('owner_id').notNull(),
    /** A JSON string: a title may hold what `text` cannot. */
    title: jsonText(),
    createdAt: epochMs('created_at').notNull(),
    updatedAt: epochMs('updated_at').notNull(),
  },
  (table) => [index('threads_by_owner').on(table.ownerId, table.updatedAt.desc(), table.threadId)],
)

/** The row that a save locks, so that two saves of one thread never mix. */
export const transcripts = holdfastSchema.table('transcripts', {
  threadId: idText('thread_id').primaryKey(),
  savedAt: epochMs('saved_at').notNull(),
})

/** One row a message of a transcript. */
export const messages = holdfastSchema.table(
  'messages',
  {
    threadId: idText('thread_id').notNull(),
    position: integer().notNull(),
    body: jsonText().notNull(),
  },
  (table) => [primaryKey({ name: 'messages_pk', columns: [table.threadId, table.position] })],
)

/** One row a question that waits, or waited, for an answer. */
export const interrupts = holdfastSchema.table(
  'interrupts',
  {
    interruptId: idText('interrupt_id').primaryKey(),
    runId: idText('run_id').notNull(),
    threadId: idText('thread_id').notNull(),
    status: text().notNull(),
    requestedAt: epochMs('requested_at').notNull(),
    resolvedAt: epochMs('resolved_at'),
    payload: jsonText().notNull(),
    response: jsonText(),
  },
  (table) => [
    index('interrupts_by_thread').on(table.threadId, table.requestedAt, table.interruptId),
    index('interrupts_by_run').on(table.runId, table.requestedAt, table.interruptId),
  ],
)

/** One row a value, by namespace and key. */
export const metadata = holdfastSchema.table(
  'metadata',
  {
    namespace: idText().notNull(),
    key: idText().notNull(),
    value: jsonText().notNull(),
  },
  (table) => [primaryKey({ name: 'metadata_pk', columns: [table.namespace, table.key] })],
)
