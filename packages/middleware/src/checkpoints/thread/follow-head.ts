import type { HoldfastStores, SandboxCheckpoint, WriteFence } from '@holdfast/core'
import { mirrorArtifacts } from '../artifacts/thread-artifacts.ts'

const NAMESPACE = 'holdfast.new-head'

/** Notes that a checkpoint is about to become the head, and that conversation and artifacts must follow. */
export async function noteNewHead({ metadata }: HoldfastStores, threadId: string, checkpointId: string): Promise<void> {
  await metadata.set(NAMESPACE, threadId, { checkpointId })
}

/**
 * Brings conversation and artifacts of a thread to what its noted head says. Nothing happens when none was noted, or when it
 * did not become the head. Called when the work that noted it ends, well or not, and by whoever settles it after a crash.
 * Repeatable.
 */
export async function followHead(stores: HoldfastStores, threadId: string, fence: WriteFence): Promise<void> {
  const note = await stores.metadata.get(NAMESPACE, threadId)
  if (typeof note !== 'object' || note === null) return
  const checkpointId: unknown = Reflect.get(note, 'checkpointId')
  const headId = await stores.checkpoints.getHead(threadId)
  const head = headId === null || headId !== checkpointId ? null : await stores.checkpoints.get(headId)
  if (head !== null) await follow(stores, head, fence)
  await stores.metadata.delete(NAMESPACE, threadId)
}

async function follow(stores: HoldfastStores, head: SandboxCheckpoint, fence: WriteFence): Promise<void> {
  const { threadId, artifacts, conversation } = head
  await stores.messages.saveThread(threadId, conversation, fence)
  await mirrorArtifacts(stores.artifacts, { threadId, artifacts, runId: fence.runId })
}
