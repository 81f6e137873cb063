import type { ModelMessage } from '@tanstack/ai'

/** `mode` is the permission bits, `0o644`. `path` is normalised, relative to the workspace, with `/`. */
export type CheckpointEntry =
  | { path: string; kind: 'file'; blobKey: string; size: number; mode?: number }
  | { path: string; kind: 'dir'; mode?: number }
  | { path: string; kind: 'symlink'; target: string }

/** An artifact as a checkpoint records it. */
export interface CheckpointArtifact {
  artifactId: string
  name: string
  mimeType: string
  size: number
  /** `sandbox-artifacts/sha256/<64 hex>`. */
  blobKey: string
  createdAt: number
}

/** Why something of the workspace is not in the checkpoint, or not as it was. */
export interface CheckpointReportEntry {
  path: string
  what: 'skipped' | 'redacted' | 'excluded' | 'changed-while-read'
  reason: string
}

/** Which paths a checkpoint covers. Exclude beats include. Glob patterns relative to the workspace. */
export interface CheckpointPolicy {
  include?: readonly string[]
  /** Replaces the defaults. */
  exclude?: readonly string[]
  onSecret?: 'redact' | 'exclude' | 'refuse'
}

/** What a checkpoint was made for. */
export type CheckpointReason = 'automatic' | 'named' | 'fork-root' | 'rewind' | 'before-destroy' | 'failed-run'

/** A portable record of files, conversation and artifacts. Never changes once stored. */
export interface SandboxCheckpoint {
  id: string
  threadId: string
  parentCheckpointId: string | null
  /** Epoch milliseconds. */
  createdAt: number
  reason: CheckpointReason
  label?: string
  sourceRunId?: string
  /** By path in UTF-8 byte order. */
  files: CheckpointEntry[]
  conversation: ModelMessage[]
  artifacts: CheckpointArtifact[]
  policy?: CheckpointPolicy
  report?: CheckpointReportEntry[]
  /** `addedBytes` are those that the blob store did not have, `changedFiles` those that differ from the parent's. */
  sizes?: { files: number; bytes: number; addedBytes: number; changedFiles?: number }
}

/** A checkpoint without its content, for timelines. */
export type CheckpointSummary = Omit<SandboxCheckpoint, 'files' | 'conversation' | 'artifacts' | 'report'> & {
  fileCount: number
  messageCount: number
  artifactCount: number
}
