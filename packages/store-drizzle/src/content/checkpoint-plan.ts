import type { SandboxCheckpoint } from '@holdfast/core'
import { blobKeysOf, checkpointItems } from './checkpoint-items.ts'
import type { CheckpointItems } from './checkpoint-items.ts'
import type { CheckpointNode, NodePlan } from './checkpoint-nodes.ts'
import { addedItems, planNode } from './checkpoint-nodes.ts'
import type { CheckpointNodeIds } from './checkpoint-rows.ts'
import { encodeCheckpointAttributes } from './checkpoint-rows.ts'

export type ParentNodes = { [list in keyof CheckpointItems]: CheckpointNode } | undefined

/** How one checkpoint is to be stored. */
export interface CheckpointPlan {
  nodes: { [list in keyof CheckpointItems]: NodePlan }
  /** The parameter of the statement that stores it. */
  json: string
}

/** Compares with the parent's lists, so that what is stored is what changed. */
export function planCheckpoint(checkpoint: SandboxCheckpoint, parent: ParentNodes, appendId: string): CheckpointPlan {
  const items = checkpointItems(checkpoint)
  const nodes = {
    files: planNode(parent?.files, items.files),
    conversation: planNode(parent?.conversation, items.conversation),
    artifacts: planNode(parent?.artifacts, items.artifacts),
  }
  const newFiles = [...addedItems(nodes.files, parent?.files)]
  const newArtifacts = [...addedItems(nodes.artifacts, parent?.artifacts)]
  const json = JSON.stringify({
    id: checkpoint.id,
    thread_id: checkpoint.threadId,
    parent_id: checkpoint.parentCheckpointId,
    created_at: checkpoint.createdAt,
    reason: checkpoint.reason,
    attributes: encodeCheckpointAttributes(checkpoint),
    append_id: appendId,
    file_count: items.files.length,
    message_count: items.conversation.length,
    artifact_count: items.artifacts.length,
    files: nodeRow(nodes.files),
    conversation: nodeRow(nodes.conversation),
    artifacts: nodeRow(nodes.artifacts),
    new_keys: [...blobKeysOf({ files: newFiles, artifacts: newArtifacts })],
  })
  return { nodes, json }
}

/** The ids that the plan's shared nodes already have, for those that were stored. */
export function eachPlannedNode(
  plan: CheckpointPlan,
  ids: CheckpointNodeIds,
  visit: (nodeId: number, node: NodePlan) => void,
): void {
  visit(ids.files, plan.nodes.files)
  visit(ids.conversation, plan.nodes.conversation)
  visit(ids.artifacts, plan.nodes.artifacts)
}

function nodeRow(plan: NodePlan): object {
  if (plan.kind === 'shared') return { nodeId: plan.nodeId }
  const { baseId, depth, chainBytes, body } = plan
  return { baseId, depth, chainBytes, body }
}
