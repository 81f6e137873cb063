export { archivePath } from './archive-entry.ts'
export type { ArchiveEntry, ReadArchiveEntry } from './archive-entry.ts'
export { ChunkQueue } from './chunk-queue.ts'
export type { ChunkQueueOptions } from './chunk-queue.ts'
export { confinedEntries } from './confined-entries.ts'
export type { UnpackPlan } from './confined-entries.ts'
export { assertEnvVars } from './env-vars.ts'
export { execFileTransfer } from './exec-file-transfer.ts'
export { GIT_NO_PROMPT_ENV } from './git-no-prompt-env.ts'
export { OutputCollector } from './output-collector.ts'
export type { OutputCollectorOptions } from './output-collector.ts'
export { posixArchive } from './posix-archive.ts'
export type { PosixArchiveHost } from './posix-archive.ts'
export { readArchive } from './read-archive.ts'
export { runWithDeadline } from './run-with-deadline.ts'
export type { DeadlineOptions } from './run-with-deadline.ts'
export { shellCommand, shellQuote } from './shell-quote.ts'
export { decodeUtf8, Utf8TextDecoder } from './utf8-text-decoder.ts'
export {
  isInsideWorkspace,
  normalizePath,
  resolveWorkspacePath,
  VIRTUAL_ROOT,
  workspaceRelativePath,
} from './workspace-path.ts'
export { writeArchive } from './write-archive.ts'
export type { WriteArchiveOptions } from './write-archive.ts'
