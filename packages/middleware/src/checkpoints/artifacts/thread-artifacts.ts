import { createHash } from 'node:crypto'
import type { ArtifactRecord, ArtifactStore, CheckpointArtifact } from '@holdfast/core'
import { checkpointArtifacts } from './checkpoint-artifacts.ts'

/**
 * Makes a thread's artifacts those of a checkpoint. Bytes stay, and so do the checkpoints that name what goes. Repeatable.
 */
export async function mirrorArtifacts(
  store: ArtifactStore,
  target: { threadId: string; runId: string; artifacts: readonly CheckpointArtifact[] },
): Promise<void> {
  const { threadId, runId, artifacts } = target
  const present = await store.listForThread(threadId)
  const wanted = new Set<string>()
  for (const artifact of artifacts) {
    const artifactId = await ownId(store, threadId, artifact.artifactId)
    wanted.add(artifactId)
    if (present.some((record) => record.artifactId === artifactId)) continue
    await store.save({ ...artifact, artifactId, threadId, runId })
  }
  for (const { artifactId } of carriedOf(present)) if (!wanted.has(artifactId)) await store.delete(artifactId)
}

/** An id belongs to one thread: a fork gets ids of its own, the same ones each time. */
async function ownId(store: ArtifactStore, threadId: string, artifactId: string): Promise<string> {
  const existing = await store.get(artifactId)
  if (existing === null || existing.threadId === threadId) return artifactId
  const hash = createHash('sha256')
    .update(JSON.stringify([threadId, artifactId]))
    .digest('hex')
  return `artifact-${hash.slice(0, 32)}`
}

/** Records that checkpoints do not carry are left alone. */
function carriedOf(records: readonly ArtifactRecord[]): readonly CheckpointArtifact[] {
  return checkpointArtifacts(records)
}
