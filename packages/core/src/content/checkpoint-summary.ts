import type { CheckpointSummary, SandboxCheckpoint } from './checkpoint.ts'

/** A checkpoint without its content. */
export function summarizeCheckpoint(checkpoint: SandboxCheckpoint): CheckpointSummary {
  const { files, conversation, artifacts, report: _report, ...summary } = checkpoint
  return {
    ...summary,
    fileCount: files.length,
    messageCount: conversation.length,
    artifactCount: artifacts.length,
  }
}
