import { randomUUID } from 'node:crypto'
import { blobChunks, InvalidInputError, RefusedError } from '@holdfast/core'
import type { ArtifactRecord, ArtifactStore, BlobBody, BlobStore, CheckpointPolicy } from '@holdfast/core'
import type { SecretRedactor } from '../../secrets/secret-redactor.ts'
import { BlobIntake } from '../capture/blob-intake.ts'
import { redactedBody, SecretContent } from '../capture/redacted-body.ts'
import { mimeTypeOf } from './mime-type.ts'
import { ARTIFACT_NAMESPACE } from './checkpoint-artifacts.ts'

export interface SaveArtifactInput {
  stores: { artifacts: ArtifactStore; blobs: BlobStore }
  redactor: SecretRedactor
  onSecret: NonNullable<CheckpointPolicy['onSecret']>
  threadId: string
  runId: string
  /** A file name. */
  name: string
  /** By the name's ending when left out. */
  mimeType?: string | undefined
  body: BlobBody
  now: number
}

const MAX_NAME_CHARACTERS = 200

/**
 * Stores content under its hash and names it for the thread. Registered secrets are taken out; content that must not be
 * changed, or not be stored, is refused with `SECRET_FOUND`. `INVALID_ARGUMENT` for an unusable name or type.
 */
export async function saveArtifact(input: SaveArtifactInput): Promise<ArtifactRecord> {
  const { stores, redactor, onSecret, threadId, runId, now } = input
  const name = artifactName(redactor.text(input.name))
  const mimeType = input.mimeType === undefined ? mimeTypeOf(name) : assertMimeType(input.mimeType)
  const intake = new BlobIntake(stores.blobs, ARTIFACT_NAMESPACE)
  const body = redactedBody({ path: name, body: blobChunks(input.body), redactor, onSecret })
  try {
    const content = await intake.add(body.pieces)
    await intake.flush()
    const artifactId = `artifact-${randomUUID().replaceAll('-', '')}`
    const record: ArtifactRecord = { artifactId, runId, threadId, name, mimeType, ...content, createdAt: now }
    await stores.artifacts.save(record)
    return record
  } catch (error) {
    if (!(error instanceof SecretContent)) throw error
    throw new RefusedError('SECRET_FOUND', `Artifact ${JSON.stringify(name)} was not stored: ${error.reason}.`)
  } finally {
    await intake.dispose()
  }
}

/** The last part of a path, without what a file system or a header could stumble over. */
function artifactName(given: string): string {
  const last = given.split(/[/\\]/).at(-1) ?? ''
  // eslint-disable-next-line no-control-regex -- control characters are what is taken out
  const name = last.replaceAll(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '').trim()
  if (name !== '' && name !== '.' && name !== '..' && name.isWellFormed()) return name.slice(-MAX_NAME_CHARACTERS)
  throw new InvalidInputError('INVALID_ARGUMENT', 'An artifact needs a file name.')
}

function assertMimeType(mimeType: string): string {
  if (/^[\w.+-]{1,60}\/[\w.+-]{1,80}(?:; ?charset=[\w-]{1,20})?$/.test(mimeType)) return mimeType
  throw new InvalidInputError('INVALID_ARGUMENT', 'mimeType must look like type/subtype.')
}
