export { archivePath } from './archive-entry.ts'
export type { ArchiveEntry, ReadArchiveEntry } from './archive-entry.ts'
export { ChunkQueue } from './chunk-queue.ts'
export type { ChunkQueueOptions } from './chunk-queue.ts'
export { confinedEntries } from './confined-entries.ts'
export type { UnpackPlan } from './confined-entries.ts'
export { assertEnvVars } from './env-vars.ts'
export { execFileTransfer } from './exec-file-transfer.ts'
export { GIT_NO_PROMPT_ENV } from './git-no-prompt-env.ts'
export type { JournalExit, JournalLine } from './journal/journal-lines.ts'
export { DEFAULT_JOURNAL_DIR } from './journal/journal-location.ts'
export type { JournalHandle, JournalLocation } from './journal/journal-location.ts'
export { newJournalNonce } from './journal/journal-marker.ts'
export { journalName, runIdOfJournal } from './journal/journal-name.ts'
export { probeJournal } from './journal/probe-journal.ts'
export type { JournalProbe } from './journal/probe-journal.ts'
export { pruneJournals } from './journal/prune-journals.ts'
export type { JournalKept, PruneJournalsInput, PruneJournalsResult } from './journal/prune-journals.ts'
export { readJournal } from './journal/read-journal.ts'
export type { JournalReadMode, ReadJournalInput } from './journal/read-journal.ts'
export { readStderrTail } from './journal/read-stderr-tail.ts'
export { startJournal } from './journal/start-journal.ts'
export type { StartJournalInput, StartJournalResult } from './journal/start-journal.ts'
export { stopJournal } from './journal/stop-journal.ts'
export { PROMPT_FILE_VARIABLE } from './journal/supervisor-script.ts'
export { orAborted } from './or-aborted.ts'
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

// With these an adapter needs nothing else of core at run time, so it does not load the stores.
export {
  CancelledError,
  ConflictError,
  CorruptDataError,
  defineSandboxProvider,
  HoldfastError,
  InvalidInputError,
  isHoldfastError,
  NotFoundError,
  ProviderError,
  RefusedError,
  sleep,
  systemClock,
  UnsupportedError,
} from '../provider/index.ts'
