import { decodeJson, encodeExactJson } from '@holdfast/core'
import type { CheckpointSummary, SandboxCheckpoint } from '@holdfast/core'
import { maybeText, number, text } from '../database/row.ts'
import type { Row } from '../database/statement.ts'

/** What is neither a column nor content. */
type Attributes = Pick<SandboxCheckpoint, 'label' | 'sourceRunId' | 'policy' | 'report' | 'sizes'>

/** A checkpoint without its three lists. */
export type CheckpointHeader = Omit<SandboxCheckpoint, 'files' | 'conversation' | 'artifacts'>

export function encodeCheckpointAttributes(checkpoint: CheckpointHeader): string {
  const { label, sourceRunId, policy, report, sizes } = checkpoint
  return encodeExactJson({ label, sourceRunId, policy, report, sizes })
}

export function checkpointHeader(row: Row): CheckpointHeader {
  return {
    id: text(row, 'checkpoint_id'),
    threadId: text(row, 'thread_id'),
    parentCheckpointId: maybeText(row, 'parent_id') ?? null,
    createdAt: number(row, 'created_at'),
    reason: text(row, 'reason') as SandboxCheckpoint['reason'],
    ...(decodeJson(text(row, 'attributes'), 'checkpoint') as Attributes),
  }
}

export function checkpointSummary(row: Row): CheckpointSummary {
  const { report: _report, ...header } = checkpointHeader(row)
  return {
    ...header,
    fileCount: number(row, 'file_count'),
    messageCount: number(row, 'message_count'),
    artifactCount: number(row, 'artifact_count'),
  }
}

export interface CheckpointNodeIds {
  files: number
  conversation: number
  artifacts: number
}

export function checkpointNodeIds(row: Row): CheckpointNodeIds {
  return {
    files: number(row, 'files_node'),
    conversation: number(row, 'conversation_node'),
    artifacts: number(row, 'artifacts_node'),
  }
}
