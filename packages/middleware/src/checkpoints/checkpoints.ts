import type {
  ArtifactRecord,
  BlobBody,
  CheckpointPolicy,
  CheckpointSummary,
  Clock,
  HoldfastStores,
  SandboxCheckpoint,
  SandboxHandle,
  StorePruneResult,
} from '@holdfast/core'
import type { SandboxDefinition } from '../definition/sandbox-definition.ts'
import type { Tenant } from '../runs/tenant.ts'
import type { ReadableArtifact } from './artifacts/read-artifact.ts'
import type { CheckpointLimits } from './policy/checkpoint-limits.ts'
import type { RestoredWorkspace } from './restore/restore-workspace.ts'
import type { CheckpointFailure } from './run/checkpoint-failures.ts'
import type { CheckpointDiff } from './thread/compare-checkpoints.ts'
import type { Rewound } from './thread/rewind-thread.ts'

/** Whose checkpoints, and what they cover. */
export interface CheckpointsOptions {
  stores: HoldfastStores
  sandbox: SandboxDefinition
  policy?: CheckpointPolicy
  limits?: Partial<CheckpointLimits>
  clock?: Clock
}

/** Which thread, and on whose behalf. Ids prove nothing: a foreign thread is `THREAD_NOT_FOUND`. */
export interface ThreadInput {
  threadId: string
  tenant?: Tenant
}

/**
 * What an app does with the checkpoints of its threads. A checkpoint id of another thread is
 * `SANDBOX_SNAPSHOT_CHECKPOINT_NOT_FOUND`; the head is meant where an id is left out.
 */
export interface Checkpoints {
  /**
   * Saves the thread's live sandbox by name; from within this process's own run when there is one. `THREAD_BUSY` while a run
   * is active elsewhere, `SANDBOX_SNAPSHOT_MISSING_REUSABLE_SANDBOX` without a sandbox, `SANDBOX_SNAPSHOT_REUSE_NONE`.
   */
  save: (input: ThreadInput & { label?: string }) => Promise<CheckpointSummary>
  /** Newest first. */
  list: (
    input: ThreadInput & { limit?: number; cursor?: string },
  ) => Promise<{ checkpoints: CheckpointSummary[]; headId: string | null; cursor?: string }>
  get: (input: ThreadInput & { checkpointId?: string }) => Promise<SandboxCheckpoint>
  /** Writes a checkpoint's files into a sandbox of the caller's, on any provider. The thread is not changed. */
  restore: (
    input: ThreadInput & { checkpointId?: string; into: SandboxHandle; root?: string },
  ) => Promise<RestoredWorkspace>
  /** Begins a new thread where a checkpoint is. `destinationThreadId` is made up when left out. */
  fork: (
    input: ThreadInput & { checkpointId?: string; destinationThreadId?: string; title?: string },
  ) => Promise<{ threadId: string; checkpoint: CheckpointSummary }>
  /**
   * Brings the thread back to an earlier checkpoint, as a new one: live sandbox, conversation, artifacts. What runs in the
   * sandbox is stopped, or kept with `processes: 'keep'`. `THREAD_BUSY` while a run is active.
   */
  rewind: (
    input: ThreadInput & { checkpointId: string; processes?: 'stop' | 'keep' },
  ) => Promise<{ checkpoint: CheckpointSummary; isSandboxRestored: Rewound['isSandboxRestored'] }>
  diff: (input: ThreadInput & { from: string; to: string }) => Promise<CheckpointDiff>
  /** Why the end of a run has no checkpoint; null when it has one, or none was wanted. */
  findFailure: (input: ThreadInput & { runId: string }) => Promise<CheckpointFailure | null>
  readonly artifacts: {
    /** Stores an output of the thread. Registered secrets are taken out. */
    save: (
      input: ThreadInput & { name: string; body: BlobBody; mimeType?: string; runId?: string },
    ) => Promise<ArtifactRecord>
    list: (input: ThreadInput) => Promise<ArtifactRecord[]>
  }
  /** An artifact of the thread as it is, or as a checkpoint has it. */
  readArtifact: (input: ThreadInput & { artifactId: string; checkpointId?: string }) => Promise<ReadableArtifact>
  /**
   * Retention for all threads of the stores: heads always stay. Bytes that nothing names go after `graceMs` (default one
   * hour), safe against saves under way. `CAPABILITY_UNSUPPORTED` when the stores have no maintenance.
   */
  prune: (input: {
    keepLast?: number
    keepNamed?: boolean
    maxAgeMs?: number
    graceMs?: number
    dryRun?: boolean
  }) => Promise<StorePruneResult>
}
