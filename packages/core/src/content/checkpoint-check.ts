import { InvalidInputError } from '../errors/error-classes.ts'
import { idFault } from '../identifier.ts'
import type { CheckpointArtifact, CheckpointEntry, CheckpointReason, SandboxCheckpoint } from './checkpoint.ts'

const FILE_KEY = /^sandbox-files\/sha256\/[0-9a-f]{64}$/
const ARTIFACT_KEY = /^sandbox-artifacts\/sha256\/[0-9a-f]{64}$/
const MAX_MODE = 0o7777

const REASONS: { readonly [reason in CheckpointReason]: true } = {
  automatic: true,
  named: true,
  'fork-root': true,
  rewind: true,
  'before-destroy': true,
  'failed-run': true,
}

/** Returns `value` when it is a usable id, else throws `SANDBOX_SNAPSHOT_INVALID_ID`. */
export function assertCheckpointId(kind: string, value: unknown): string {
  const fault = idFault(value)
  if (fault === undefined) return value as string
  throw new InvalidInputError('SANDBOX_SNAPSHOT_INVALID_ID', `${kind} ${fault}.`, { details: { kind } })
}

/** The id checks of `append`: checkpoint, thread, parent, source run and artifacts. */
export function assertCheckpointIds(checkpoint: SandboxCheckpoint): void {
  assertCheckpointId('checkpoint id', checkpoint.id)
  assertCheckpointId('threadId', checkpoint.threadId)
  if (checkpoint.parentCheckpointId !== null) assertCheckpointId('parentCheckpointId', checkpoint.parentCheckpointId)
  if (checkpoint.sourceRunId !== undefined) assertCheckpointId('sourceRunId', checkpoint.sourceRunId)
  for (const artifact of checkpoint.artifacts) assertCheckpointId('artifactId', artifact.artifactId)
}

/**
 * The content checks of `append`; `SANDBOX_SNAPSHOT_INVALID_ENTRY` names the path. Paths are POSIX paths: normalised,
 * relative, any name that Linux can have.
 */
export function assertCheckpointEntries(checkpoint: SandboxCheckpoint): void {
  if (!Object.hasOwn(REASONS, checkpoint.reason)) throw invalid('The reason of the checkpoint is unknown')
  if (!isCount(checkpoint.createdAt)) throw invalid('createdAt must be epoch milliseconds')
  if (!Array.isArray(checkpoint.conversation)) throw invalid('The conversation must be a list of messages')
  for (const entry of checkpoint.files) assertEntry(entry)
  for (const artifact of checkpoint.artifacts) assertArtifact(artifact)
  assertTree(checkpoint.files)
}

/** All checks at once, ids first. */
export function assertCheckpoint(checkpoint: SandboxCheckpoint): void {
  assertCheckpointIds(checkpoint)
  assertCheckpointEntries(checkpoint)
}

/** Whether a path is normalised, relative to the workspace and below it. */
export function isCheckpointPath(path: unknown): path is string {
  if (typeof path !== 'string' || path.includes('\0') || !path.isWellFormed()) return false
  return path.split('/').every((name) => name !== '' && name !== '.' && name !== '..')
}

/** The blob keys that a checkpoint names, each once. */
export function checkpointBlobKeys(checkpoint: Pick<SandboxCheckpoint, 'files' | 'artifacts'>): Set<string> {
  const keys = new Set<string>()
  for (const entry of checkpoint.files) if (entry.kind === 'file') keys.add(entry.blobKey)
  for (const artifact of checkpoint.artifacts) keys.add(artifact.blobKey)
  return keys
}

function assertEntry(entry: CheckpointEntry): void {
  if (!isCheckpointPath(entry.path)) throw invalid('A path is not normalised and relative to the workspace', entry.path)
  if (entry.kind === 'symlink') {
    const isTarget = typeof entry.target === 'string' && entry.target !== '' && !entry.target.includes('\0')
    if (!isTarget) throw invalid('A link has no usable target', entry.path)
    return
  }
  if (entry.kind !== 'file' && entry.kind !== 'dir') throw invalid('An entry is of an unknown kind', entry)
  if (entry.mode !== undefined && !(isCount(entry.mode) && entry.mode <= MAX_MODE)) {
    throw invalid('A mode is not permission bits', entry.path)
  }
  if (entry.kind === 'file' && !(FILE_KEY.test(entry.blobKey) && isCount(entry.size))) {
    throw invalid('A file has no usable blob key or size', entry.path)
  }
}

function assertArtifact(artifact: CheckpointArtifact): void {
  const { artifactId, name, mimeType, size, blobKey, createdAt } = artifact
  const isUsable = typeof name === 'string' && typeof mimeType === 'string' && isCount(size) && isCount(createdAt)
  if (!isUsable || !ARTIFACT_KEY.test(blobKey)) throw invalid('An artifact is malformed', artifactId)
}

/** Refuses a path that stands twice, or beneath a file or link. */
function assertTree(files: readonly CheckpointEntry[]): void {
  // With NUL for the slash, whatever lies beneath an entry follows it directly.
  const sorted = files.map(({ path, kind }) => ({ key: path.replaceAll('/', '\0'), path, kind }))
  sorted.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))
  for (const [index, { key, path }] of sorted.entries()) {
    const before = sorted[index - 1]
    if (before === undefined) continue
    if (before.key === key) throw invalid('A path stands twice', path)
    if (before.kind !== 'dir' && key.startsWith(`${before.key}\0`)) throw invalid('A path stands beneath a file', path)
  }
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function invalid(fault: string, subject?: unknown): InvalidInputError {
  const path = typeof subject === 'string' ? subject.slice(0, 4_096) : undefined
  const message = path === undefined ? `${fault}.` : `${fault}: ${JSON.stringify(path)}.`
  return new InvalidInputError('SANDBOX_SNAPSHOT_INVALID_ENTRY', message, { details: { path } })
}
