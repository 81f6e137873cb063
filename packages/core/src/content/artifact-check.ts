import { InvalidInputError } from '../errors/error-classes.ts'
import { assertId, assertMs } from '../identifier.ts'
import type { ArtifactRecord } from './artifact-store.ts'

/** Throws `INVALID_ID` or `INVALID_ARGUMENT` when the record is malformed. */
export function assertArtifactRecord(record: ArtifactRecord): void {
  assertId('artifactId', record.artifactId)
  assertId('runId', record.runId)
  assertId('threadId', record.threadId)
  if (record.blobKey !== undefined) assertId('blobKey', record.blobKey)
  assertMs('createdAt', record.createdAt)
  for (const field of ['name', 'mimeType'] as const) {
    if (typeof record[field] === 'string') continue
    throw new InvalidInputError('INVALID_ARGUMENT', `${field} must be a string.`)
  }
  if (!Number.isSafeInteger(record.size) || record.size < 0) {
    throw new InvalidInputError('INVALID_ARGUMENT', 'size must be a number of bytes, 0 or more.')
  }
}
