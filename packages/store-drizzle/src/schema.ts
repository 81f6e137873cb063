export { holdfastSchema, SCHEMA_NAME } from './schema/schema-name.ts'
export { migrations } from './schema/migration-table.ts'
export { runEvents, runLogs, runs } from './schema/run-tables.ts'
export { interrupts, messages, metadata, threads, transcripts } from './schema/thread-tables.ts'
export { locks, lockWaiters } from './schema/lock-tables.ts'
export { sandboxInstances } from './schema/sandbox-tables.ts'
export {
  artifacts,
  blobChunks,
  blobReferences,
  blobs,
  checkpointHeads,
  checkpointNodes,
  checkpoints,
} from './schema/content-tables.ts'
