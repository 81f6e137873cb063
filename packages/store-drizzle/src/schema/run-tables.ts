import { sql } from 'drizzle-orm'
import { bigint, boolean, index, integer, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { epochMs, idText, jsonText } from './columns.ts'
import { holdfastSchema } from './schema-name.ts'

/** One agent turn and who drives it. */
export const runs = holdfastSchema.table(
  'runs',
  {
    runId: idText('run_id').primaryKey(),
    threadId: idText('thread_id').notNull(),
    status: text().notNull(),
    startedAt: epochMs('started_at').notNull(),
    finishedAt: epochMs('finished_at'),
    error: jsonText(),
    usage: jsonText(),
    sandboxKey: idText('sandbox_key'),
    detachedSince: epochMs('detached_since'),
    cancelRequested: boolean('cancel_requested'),
    keepSandbox: boolean('keep_sandbox').notNull().default(false),
    driverEpoch: bigint('driver_epoch', { mode: 'number' }),
    driverOwner: text('driver_owner'),
    leaseExpiresAt: epochMs('lease_expires_at'),
    /** True from a claim until the run leaves `running`. */
    holdsThread: boolean('holds_thread').notNull().default(false),
  },
  (table) => [
    uniqueIndex('runs_thread_holder')
      .on(table.threadId)
      .where(sql`${table.holdsThread}`),
    index('runs_by_thread').on(table.threadId, table.startedAt, table.runId),
    index('runs_by_start').on(table.startedAt, table.runId),
    index('runs_by_status').on(table.status, table.startedAt, table.runId),
    index('runs_lease_end')
      .on(table.leaseExpiresAt, table.runId)
      .where(sql`${table.holdsThread} and ${table.detachedSince} is null`),
    index('runs_detached')
      .on(table.detachedSince, table.runId)
      .where(sql`${table.status} = 'running' and ${table.detachedSince} is not null`),
    index('runs_running')
      .on(table.threadId, table.startedAt)
      .where(sql`${table.status} = 'running'`),
  ],
)

/**
 * One row per run that was claimed or has events. It carries the epoch, so that an append and a claim meet on one row
 * lock. The row of a claimed run outlives its events, so that it stays fenced.
 */
export const runLogs = holdfastSchema.table(
  'run_logs',
  {
    logId: bigint('log_id', { mode: 'number' }).notNull().generatedAlwaysAsIdentity().unique(),
    runId: idText('run_id').primaryKey(),
    epoch: bigint({ mode: 'number' }).notNull().default(0),
    tail: bigint({ mode: 'number' }).notNull().default(0),
    /** The last batch, so that an append whose reply was lost can be repeated. */
    lastBatch: uuid('last_batch'),
    closedAt: epochMs('closed_at'),
    removedAt: epochMs('removed_at'),
  },
  (table) => [
    index('run_logs_closed')
      .on(table.closedAt)
      .where(sql`${table.closedAt} is not null and ${table.removedAt} is null`),
  ],
)

/** One row per appended batch. `payload` is its chunks as one JSON list. */
export const runEvents = holdfastSchema.table(
  'run_events',
  {
    logId: bigint('log_id', { mode: 'number' }).notNull(),
    firstSeq: bigint('first_seq', { mode: 'number' }).notNull(),
    eventCount: integer('event_count').notNull(),
    payload: jsonText().notNull(),
  },
  (table) => [primaryKey({ name: 'run_events_pk', columns: [table.logId, table.firstSeq] })],
)
