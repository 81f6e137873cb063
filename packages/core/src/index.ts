export { systemClock, sleep } from './clock.ts'
export type { Clock } from './clock.ts'
export { decodeJson, encodeExactJson } from './exact-json.ts'
export { assertId, assertMs, idFault, MAX_ID_BYTES } from './identifier.ts'
export { assertPageSize, decodeCursor, encodeCursor, MAX_PAGE_SIZE } from './page.ts'
export type { CursorValues } from './page.ts'
export type { CheckpointRetention, StoreMaintenance, StorePruneInput, StorePruneResult } from './store-maintenance.ts'
export type { HoldfastStores } from './stores.ts'
export { compareUtf8 } from './utf8-order.ts'

export { ERROR_CODES } from './errors/error-codes.ts'
export type { ErrorCode } from './errors/error-codes.ts'
export { HoldfastError, isHoldfastError } from './errors/holdfast-error.ts'
export type { ErrorDetails, HoldfastErrorLike, HoldfastErrorOptions } from './errors/holdfast-error.ts'
export {
  CancelledError,
  ConflictError,
  CorruptDataError,
  DriverLostError,
  InvalidInputError,
  LeaseLostError,
  NotFoundError,
  ProviderError,
  RefusedError,
  RunConflictError,
  StoreError,
  ThreadBusyError,
  UnsupportedError,
} from './errors/error-classes.ts'

export type { ExtraCapabilityName, SandboxCapabilities, SandboxCapabilityName } from './sandbox/sandbox-capabilities.ts'
export type {
  SandboxDirEntry,
  SandboxFileStat,
  SandboxFileWatch,
  SandboxFileWatchEvent,
  SandboxFs,
} from './sandbox/sandbox-fs.ts'
export type {
  SandboxExecOptions,
  SandboxExecResult,
  SandboxProcess,
  SandboxProcessOptions,
  SandboxSpawnHandle,
} from './sandbox/sandbox-process.ts'
export type { SandboxGit, SandboxGitAuth, SandboxGitCloneInput } from './sandbox/sandbox-git.ts'
export type { SandboxChannel, SandboxEnv, SandboxPorts } from './sandbox/sandbox-ports.ts'
export type { SandboxArchive } from './sandbox/sandbox-archive.ts'
export type { SandboxTerminal, SandboxTerminalOptions, SandboxTerminals } from './sandbox/sandbox-terminal.ts'
export type { SandboxAccess, SandboxAccessGrant } from './sandbox/sandbox-access.ts'
export type { SandboxHandle, SandboxSnapshotRef } from './sandbox/sandbox-handle.ts'
export type {
  SandboxCreateInput,
  SandboxDestroyInput,
  SandboxListing,
  SandboxProbe,
  SandboxProvider,
  SandboxRestoreInput,
  SandboxResumeInput,
  SandboxTemplates,
} from './sandbox/sandbox-provider.ts'
export type { SandboxBackend, SandboxBackendFs, SandboxBackendHandle } from './sandbox/sandbox-backend.ts'
export { defineSandboxProvider } from './sandbox/define-sandbox-provider.ts'
export type { PolicyDecision, SandboxPolicy } from './sandbox/sandbox-policy.ts'
export type {
  SecretRef,
  WorkspaceDefinition,
  WorkspaceGitSource,
  WorkspaceLocalSource,
  WorkspaceNoSource,
  WorkspaceSetupStep,
  WorkspaceSkill,
  WorkspaceSource,
} from './sandbox/workspace-definition.ts'
export { assertInstanceRecord, assertInstanceState } from './sandbox/instance-check.ts'
export type {
  SandboxInstanceListInput,
  SandboxInstanceRecord,
  SandboxInstanceState,
  SandboxInstanceStore,
} from './sandbox/sandbox-instance-store.ts'

export { assertClaimInput, assertEpoch, assertFence, assertRunIds, finishPatch } from './runs/driver-check.ts'
export { formatEventOffset, formatTailOffsets, parseEventOffset } from './runs/event-offset.ts'
export { applyRunPatch, assertRunError, assertRunPatch, assertRunStatus, RUN_PATCH_FIELDS } from './runs/run-patch.ts'
export type { RunPatch } from './runs/run-patch.ts'
export { isRunStatus, isTerminalRunStatus } from './runs/run-record.ts'
export type { RunError, RunRecord, RunStatus, RunStore, TerminalRunStatus } from './runs/run-record.ts'
export type {
  CancelRequest,
  DriverClaim,
  DriverClaimInput,
  DriverFinishInput,
  DriverInfo,
  DriverStore,
  RunListInput,
  WriteFence,
} from './runs/driver-store.ts'
export { OFFSET_NOW, OFFSET_START } from './runs/event-log.ts'
export type {
  EventLog,
  EventLogEntry,
  EventLogInfo,
  EventLogOpenInput,
  EventLogStore,
  EventOffset,
} from './runs/event-log.ts'

export type { FencedLockStore, FencingToken, LockLease, LockOptions, LockStore } from './coordination/lock-store.ts'
export type { ThreadListInput, ThreadRecord, ThreadStore } from './threads/thread-store.ts'
export { reviveMessages } from './threads/message-json.ts'
export type { MessageStore } from './threads/message-store.ts'
export type { InterruptCommit, InterruptRecord, InterruptStore } from './threads/interrupt-store.ts'
export type { MetadataStore } from './threads/metadata-store.ts'
export { assertBlobContent, assertBlobKey, clampBlobRange, contentHashOfKey } from './content/blob-key.ts'
export { blobChunks } from './content/blob-body.ts'
export { summarizeCheckpoint } from './content/checkpoint-summary.ts'
export { assertArtifactRecord } from './content/artifact-check.ts'
export {
  assertCheckpoint,
  assertCheckpointEntries,
  assertCheckpointId,
  assertCheckpointIds,
  checkpointBlobKeys,
  isCheckpointPath,
} from './content/checkpoint-check.ts'
export { checkpointForkRoot } from './content/checkpoint-fork-root.ts'
export { checkpointWriterTimes } from './content/checkpoint-writer-times.ts'
export type { CheckpointWriterOptions } from './content/checkpoint-writer-times.ts'
export type {
  BlobBody,
  BlobListInput,
  BlobObject,
  BlobPutOptions,
  BlobRecord,
  BlobStore,
} from './content/blob-store.ts'
export type { ArtifactRecord, ArtifactStore } from './content/artifact-store.ts'
export type {
  CheckpointArtifact,
  CheckpointEntry,
  CheckpointPolicy,
  CheckpointReason,
  CheckpointReportEntry,
  CheckpointSummary,
  SandboxCheckpoint,
} from './content/checkpoint.ts'
export type {
  CheckpointAppendInput,
  CheckpointBlobReference,
  CheckpointForkInput,
  CheckpointWriterLease,
  SandboxCheckpointStore,
} from './content/checkpoint-store.ts'

export { createMemoryStores } from './memory/create-memory-stores.ts'
export type { MemoryStoresOptions } from './memory/create-memory-stores.ts'
export { MemoryState } from './memory/memory-state.ts'
export type { MemoryRetention, MemoryStateOptions } from './memory/memory-state.ts'
export { MemoryArtifactStore } from './memory/memory-artifact-store.ts'
export { MemoryBlobStore } from './memory/memory-blob-store.ts'
export type { MemoryBlobStoreOptions } from './memory/memory-blob-store.ts'
export { MemoryCheckpointStore } from './memory/memory-checkpoint-store.ts'
export { MemoryDriverStore } from './memory/memory-driver-store.ts'
export { MemoryEventLogStore } from './memory/memory-event-log-store.ts'
export { MemoryInstanceStore } from './memory/memory-instance-store.ts'
export { MemoryInterruptStore } from './memory/memory-interrupt-store.ts'
export { MemoryLockStore } from './memory/memory-lock-store.ts'
export { MemoryMessageStore } from './memory/memory-message-store.ts'
export { MemoryMetadataStore } from './memory/memory-metadata-store.ts'
export { MemoryRunStore } from './memory/memory-run-store.ts'
export { MemoryThreadStore } from './memory/memory-thread-store.ts'
