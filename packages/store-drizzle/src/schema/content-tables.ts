import { bigint, index, integer, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { bytes, epochMs, idText, jsonText } from './columns.ts'
import { holdfastSchema } from './schema-name.ts'

/** A blob that is complete. Its bytes are the chunks of `upload_id`. */
export const blobs = holdfastSchema.table(
  'blobs',
  {
    key: idText().primaryKey(),
    uploadId: uuid('upload_id').notNull(),
    size: bigint({ mode: 'number' }).notNull(),
    /** Length of each chunk but the last. */
    chunkBytes: integer('chunk_bytes').notNull(),
    etag: text().notNull(),
    /** Content type and custom metadata. */
    attributes: jsonText(),
    createdAt: epochMs('created_at').notNull(),
    /** When somebody last stored, asked for or referenced it. Collection spares what was touched lately. */
    touchedAt: epochMs('touched_at').notNull(),
  },
  (table) => [index('blobs_by_touch').on(table.touchedAt), index('blobs_by_upload').on(table.uploadId)],
)

/** Bytes of an upload, finished or not. */
export const blobChunks = holdfastSchema.table(
  'blob_chunks',
  {
    uploadId: uuid('upload_id').notNull(),
    position: integer().notNull(),
    bytes: bytes().notNull(),
    storedAt: epochMs('stored_at').notNull(),
  },
  (table) => [primaryKey({ name: 'blob_chunks_pk', columns: [table.uploadId, table.position] })],
)

/** One row an artifact. */
export const artifacts = holdfastSchema.table(
  'artifacts',
  {
    artifactId: idText('artifact_id').primaryKey(),
    runId: idText('run_id').notNull(),
    threadId: idText('thread_id').notNull(),
    blobKey: idText('blob_key'),
    createdAt: epochMs('created_at').notNull(),
    /** Name, type, size and source, as JSON: they may hold what `text` cannot. */
    attributes: jsonText().notNull(),
  },
  (table) => [
    index('artifacts_by_run').on(table.runId, table.createdAt, table.artifactId),
    index('artifacts_by_thread').on(table.threadId, table.createdAt, table.artifactId),
    index('artifacts_by_blob').on(table.blobKey),
  ],
)

/** The head of a thread's chain and the lease to change it. */
export const checkpointHeads = holdfastSchema.table('checkpoint_heads', {
  threadId: idText('thread_id').primaryKey(),
  headId: idText('head_id'),
  writerOwner: uuid('writer_owner'),
  writerFence: bigint('writer_fence', { mode: 'number' }).notNull().default(0),
  writerExpiresAt: epochMs('writer_expires_at').notNull().default(0),
})

/** One row a checkpoint; its files and messages are in `checkpoint_nodes`. */
export const checkpoints = holdfastSchema.table(
  'checkpoints',
  {
    checkpointId: idText('checkpoint_id').primaryKey(),
    threadId: idText('thread_id').notNull(),
    parentId: idText('parent_id'),
    createdAt: epochMs('created_at').notNull(),
    /** What retention goes by. */
    reason: text().notNull(),
    /** Everything that is neither content nor a column. */
    attributes: jsonText().notNull(),
    filesNode: bigint('files_node', { mode: 'number' }).notNull(),
    conversationNode: bigint('conversation_node', { mode: 'number' }).notNull(),
    artifactsNode: bigint('artifacts_node', { mode: 'number' }).notNull(),
    fileCount: integer('file_count').notNull(),
    messageCount: integer('message_count').notNull(),
    artifactCount: integer('artifact_count').notNull(),
    /** Which call stored it, so that one whose reply was lost can be repeated. */
    appendId: uuid('append_id').notNull(),
  },
  (table) => [
    index('checkpoints_by_thread').on(table.threadId, table.createdAt, table.checkpointId),
    index('checkpoints_by_files').on(table.filesNode),
    index('checkpoints_by_conversation').on(table.conversationNode),
    index('checkpoints_by_artifacts').on(table.artifactsNode),
  ],
)

/** A list that checkpoints share: whole when `base_id` is null, else what differs from the base. */
export const checkpointNodes = holdfastSchema.table(
  'checkpoint_nodes',
  {
    nodeId: bigint('node_id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    threadId: idText('thread_id').notNull(),
    /** `files`, `conversation` or `artifacts`. */
    kind: text().notNull(),
    baseId: bigint('base_id', { mode: 'number' }),
    /** How many nodes must be read to have the list, this one included. */
    depth: integer().notNull(),
    /** Bytes of differences since the last whole list. */
    chainBytes: bigint('chain_bytes', { mode: 'number' }).notNull(),
    body: jsonText().notNull(),
  },
  (table) => [
    index('checkpoint_nodes_by_base').on(table.baseId),
    index('checkpoint_nodes_by_thread').on(table.threadId),
  ],
)
