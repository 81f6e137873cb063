import { CorruptDataError, NotFoundError } from '@holdfast/core'
import type { ArtifactStore, BlobStore, CheckpointArtifact, SandboxCheckpoint } from '@holdfast/core'
import { verifiedBytes } from '../restore/verified-bytes.ts'
import { checkpointArtifacts } from './checkpoint-artifacts.ts'

/** An artifact with its bytes, to be read once. */
export interface ReadableArtifact {
  readonly artifact: CheckpointArtifact
  /** Fails at its end when the bytes are not the stored ones. */
  readonly body: ReadableStream<Uint8Array>
}

/**
 * An artifact of a thread, or of one of its checkpoints. Somebody else's is as missing as one that does not exist:
 * `SANDBOX_SNAPSHOT_MISSING_CHECKPOINT_ARTIFACT`. `SANDBOX_SNAPSHOT_MISSING_ARTIFACT_BLOB` when its bytes are gone.
 */
export async function readArtifact(
  stores: { artifacts: ArtifactStore; blobs: BlobStore },
  input: { threadId: string; artifactId: string; checkpoint?: SandboxCheckpoint },
): Promise<ReadableArtifact> {
  const { threadId, artifactId, checkpoint } = input
  const artifact =
    checkpoint === undefined
      ? await artifactOfThread(stores.artifacts, threadId, artifactId)
      : checkpoint.artifacts.find((each) => each.artifactId === artifactId)
  if (artifact === undefined) {
    const message = `No artifact ${artifactId}.`
    throw new NotFoundError('SANDBOX_SNAPSHOT_MISSING_CHECKPOINT_ARTIFACT', message, { details: { artifactId } })
  }
  if ((await stores.blobs.head(artifact.blobKey)) === null) throw missingBytes(artifactId)
  const faults = { missing: () => missingBytes(artifactId), invalid: () => wrongBytes(artifactId) }
  return { artifact, body: ReadableStream.from(verifiedBytes(stores.blobs, artifact, faults)) }
}

async function artifactOfThread(
  artifacts: ArtifactStore,
  threadId: string,
  artifactId: string,
): Promise<CheckpointArtifact | undefined> {
  const record = await artifacts.get(artifactId)
  return record?.threadId === threadId ? checkpointArtifacts([record])[0] : undefined
}

function missingBytes(artifactId: string): NotFoundError {
  const message = `The bytes of artifact ${artifactId} are not in the blob store.`
  return new NotFoundError('SANDBOX_SNAPSHOT_MISSING_ARTIFACT_BLOB', message, { details: { artifactId } })
}

function wrongBytes(artifactId: string): CorruptDataError {
  const message = `The stored bytes of artifact ${artifactId} are not those of its record.`
  return new CorruptDataError('SANDBOX_SNAPSHOT_INVALID_ARTIFACT_BYTES', message, { details: { artifactId } })
}
