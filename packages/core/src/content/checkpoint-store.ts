import type { CheckpointSummary, SandboxCheckpoint } from './checkpoint.ts'

/**
 * The right to change one thread's checkpoints. Times out by the store's clock. Default 120 s, to be renewed after 45 s.
 */
export interface CheckpointWriterLease {
  readonly threadId: string
  readonly ownerToken: string
  /** Only grows for one thread. */
  readonly fence: number
  readonly expiresAt: number
  readonly renewAfterMs: number
  /** `SANDBOX_SNAPSHOT_WRITER_LOST` when it has passed to another writer or expired. */
  renew: () => Promise<{ expiresAt: number }>
  /** Repeatable; never ends a newer lease. */
  release: () => Promise<void>
}

/** A checkpoint, with what must still hold for it to be stored. */
export interface CheckpointAppendInput {
  checkpoint: SandboxCheckpoint
  expectedHeadId: string | null
  writer: CheckpointWriterLease
}

/** The root of a new thread, made of another thread's checkpoint. */
export interface CheckpointForkInput {
  sourceThreadId: string
  sourceCheckpointId: string
  destinationThreadId: string
  destinationCheckpointId: string
  createdAt: number
  writer: CheckpointWriterLease
}

/** One blob that a stored checkpoint keeps alive. */
export interface CheckpointBlobReference {
  key: string
  /** In how many checkpoints the key appears. */
  references: number
}

/**
 * Checkpoints in a chain per thread with one head. TanStack's contract: values are copies on the way in and out, a
 * refused call changes nothing, ids and keys are ordered by their UTF-8 bytes. Codes begin with `SANDBOX_SNAPSHOT_`.
 */
export interface SandboxCheckpointStore {
  get: (checkpointId: string) => Promise<SandboxCheckpoint | null>
  /** All of a thread, by `createdAt`, then id. */
  list: (threadId: string) => Promise<SandboxCheckpoint[]>
  /** Newest first, without content, a page at a time. */
  listSummaries?: (input: {
    threadId: string
    /** 1 … 1,000. Default 100. */
    limit?: number
    cursor?: string
  }) => Promise<{ checkpoints: CheckpointSummary[]; cursor?: string }>
  getHead: (threadId: string) => Promise<string | null>
  /**
   * Checks, in this order: `WRITER_LOST`, `INVALID_ID`, `INVALID_ENTRY`, `DUPLICATE_ID`, `STALE_HEAD`,
   * `PARENT_MISMATCH`; then stores and moves the head, in one step.
   */
  append: (input: CheckpointAppendInput) => Promise<{ headId: string }>
  /** Head only (`NOT_HEAD`); the head moves to its parent. */
  deleteHead: (input: {
    threadId: string
    checkpointId: string
    writer: CheckpointWriterLease
  }) => Promise<{ headId: string | null }>
  /**
   * Never waits: `WRITER_CONFLICT` while another lease is live. `force` ends that lease first: for a caller who knows that
   * its holder is gone or may no longer write, such as the driver that took a run over.
   */
  acquireWriter: (threadId: string, options?: { force?: boolean }) => Promise<CheckpointWriterLease>
  /** One per checkpoint that names the key, by key in UTF-8 byte order. */
  listBlobReferences: () => Promise<CheckpointBlobReference[]>
  /**
   * Copies checkpoint, conversation and head to an empty thread, its transcript included, in one transaction.
   * `FORK_SOURCE_NOT_FOUND`, `FORK_SOURCE_THREAD_MISMATCH`, `FORK_DESTINATION_NOT_EMPTY`, `WRITER_LOST`.
   */
  forkFromCheckpoint?: (input: CheckpointForkInput) => Promise<{ checkpoint: SandboxCheckpoint }>
  /** Removes everything of a thread. For erasing a thread only. */
  deleteThread?: (threadId: string) => Promise<void>
}
