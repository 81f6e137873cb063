import type { ArtifactRecord, CheckpointArtifact } from '@holdfast/core'

export const ARTIFACT_NAMESPACE = 'sandbox-artifacts/'

/** Records as checkpoints carry them. One whose bytes are kept elsewhere stays out. */
export function checkpointArtifacts(records: readonly ArtifactRecord[]): CheckpointArtifact[] {
  return records.flatMap(({ artifactId, name, mimeType, size, blobKey, createdAt }) =>
    blobKey?.startsWith(`${ARTIFACT_NAMESPACE}sha256/`) === true
      ? [{ artifactId, name, mimeType, size, blobKey, createdAt }]
      : [],
  )
}
