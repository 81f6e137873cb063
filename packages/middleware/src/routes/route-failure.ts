import { isHoldfastError } from '@holdfast/core'
import type { ErrorCode, HoldfastErrorLike } from '@holdfast/core'
import { warnOf } from '../secrets/warn-of.ts'

/** HTTP status by code; everything else that is ours is the server's fault. */
const STATUS: Partial<Record<ErrorCode, number>> = {
  INVALID_ARGUMENT: 400,
  INVALID_ID: 400,
  INVALID_OFFSET: 400,
  INVALID_PATH: 400,
  LIMIT_EXCEEDED: 413,
  POLICY_DENIED: 403,
  THREAD_NOT_FOUND: 404,
  RUN_NOT_FOUND: 404,
  FILE_NOT_FOUND: 404,
  SANDBOX_NOT_FOUND: 404,
  FILE_CONFLICT: 409,
  THREAD_BUSY: 409,
  RUN_CONFLICT: 409,
  RUN_CANCELLED: 409,
  RUN_TERMINAL: 409,
  DRIVER_HELD: 409,
  INTERRUPT_CONFLICT: 409,
  FILE_TOO_LARGE: 413,
  SECRET_FOUND: 422,
  SANDBOX_SNAPSHOT_CHECKPOINT_NOT_FOUND: 404,
  SANDBOX_SNAPSHOT_MISSING_CHECKPOINT_ARTIFACT: 404,
  SANDBOX_SNAPSHOT_MISSING_ARTIFACT_BLOB: 404,
  SANDBOX_SNAPSHOT_MISSING_REUSABLE_SANDBOX: 409,
  SANDBOX_SNAPSHOT_REUSE_NONE: 409,
  SANDBOX_SNAPSHOT_WRITER_CONFLICT: 409,
  SANDBOX_SNAPSHOT_STALE_HEAD: 409,
  SANDBOX_SNAPSHOT_FORK_DESTINATION_NOT_EMPTY: 409,
  SANDBOX_SNAPSHOT_INVALID_ID: 400,
  PROVIDER_UNAVAILABLE: 503,
  PROVIDER_RATE_LIMITED: 503,
  SANDBOX_UNREACHABLE: 503,
  STORE_UNAVAILABLE: 503,
}

/** `{error: {code, message}}`. A failure that is not ours is not described: its text may hold anything. */
export function failureResponse(error: unknown): Response {
  if (!isHoldfastError(error)) {
    warnOf(error)
    return errorResponse(500, 'INTERNAL', 'The server failed. Its log says more.')
  }
  const status = statusOf(error)
  if (status >= 500) process.emitWarning(error)
  return errorResponse(status, error.code, error.message)
}

function statusOf({ code, retryable }: HoldfastErrorLike): number {
  // What is full now has room later; what is too large stays too large.
  if (code === 'LIMIT_EXCEEDED' && retryable) return 429
  return STATUS[code] ?? 500
}

export function errorResponse(status: number, code: string, message: string): Response {
  return Response.json({ error: { code, message } }, { status })
}
