import { ConflictError, NotFoundError } from '@holdfast/core'

export function duplicateCheckpoint(checkpointId: string): ConflictError {
  const message = `A checkpoint ${checkpointId} exists already; use a fresh id.`
  return new ConflictError('SANDBOX_SNAPSHOT_DUPLICATE_ID', message, { details: { checkpointId } })
}

export function staleHead(threadId: string, expectedHeadId: string | null, headId: string | null): ConflictError {
  const message = `Thread ${threadId} has another head checkpoint than expected; read it and try again.`
  return new ConflictError('SANDBOX_SNAPSHOT_STALE_HEAD', message, { details: { threadId, expectedHeadId, headId } })
}

export function parentMismatch(checkpointId: string, headId: string | null): ConflictError {
  const message = `Checkpoint ${checkpointId} does not name the current head as its parent.`
  return new ConflictError('SANDBOX_SNAPSHOT_PARENT_MISMATCH', message, { details: { checkpointId, headId } })
}

export function notHead(threadId: string, checkpointId: string): ConflictError {
  const message = `Checkpoint ${checkpointId} is not the head of thread ${threadId}; only the head can be deleted.`
  return new ConflictError('SANDBOX_SNAPSHOT_NOT_HEAD', message, { details: { threadId, checkpointId } })
}

export function forkSourceMissing(sourceCheckpointId: string): NotFoundError {
  const message = `Checkpoint ${sourceCheckpointId} does not exist; it cannot be forked from.`
  return new NotFoundError('SANDBOX_SNAPSHOT_FORK_SOURCE_NOT_FOUND', message, { details: { sourceCheckpointId } })
}

export function forkSourceForeign(sourceCheckpointId: string): ConflictError {
  const message = `Checkpoint ${sourceCheckpointId} belongs to another thread.`
  const details = { sourceCheckpointId }
  return new ConflictError('SANDBOX_SNAPSHOT_FORK_SOURCE_THREAD_MISMATCH', message, { details })
}

export function forkDestinationInUse(threadId: string): ConflictError {
  const message = `Thread ${threadId} already has messages or checkpoints; fork into a new thread.`
  return new ConflictError('SANDBOX_SNAPSHOT_FORK_DESTINATION_NOT_EMPTY', message, { details: { threadId } })
}
