import type { ErrorCode } from './error-codes.ts'
import { brand, HoldfastError } from './holdfast-error.ts'
import type { ErrorDetails, HoldfastErrorOptions } from './holdfast-error.ts'

/** What was asked for does not exist. Reaction: create it, or tell the user. */
export class NotFoundError extends HoldfastError {}

/** Somebody else's state stands in the way. Reaction: read the current state and decide again. */
export class ConflictError extends HoldfastError {}

/** Ownership is gone. Reaction: stop writing at once; do not retry under the old token. */
export class LeaseLostError extends HoldfastError {}

/** The ability does not exist here. Reaction: use another path, or another provider. */
export class UnsupportedError extends HoldfastError {}

/** A sandbox service or sandbox failed. Reaction: retry when `retryable`, else report. Never read as "gone". */
export class ProviderError extends HoldfastError {}

/** A store failed. Reaction: retry when `retryable`, else report. */
export class StoreError extends HoldfastError {}

/** Stored data is not what it should be. Reaction: stop; an operator must look. */
export class CorruptDataError extends HoldfastError {}

/** Somebody asked for the end of the work. Reaction: clean up, report nothing as failed. */
export class CancelledError extends HoldfastError {}

/** A policy or limit forbids the action. Reaction: do something else, or change the policy. */
export class RefusedError extends HoldfastError {}

/** Another run holds the thread: code `THREAD_BUSY`, `details.activeRunId`, `details.orphaned` when its driver is gone. */
export class ThreadBusyError extends ConflictError {
  constructor(input: { threadId: string; activeRunId: string; orphaned?: boolean }) {
    super('THREAD_BUSY', `Thread ${input.threadId} is held by run ${input.activeRunId}; wait for it or cancel it.`, {
      details: { ...input, orphaned: input.orphaned ?? false },
      retryable: true,
    })
  }
}

/** A run id that cannot be claimed: `RUN_CONFLICT`, `RUN_TERMINAL`, `RUN_CANCELLED` or `DRIVER_HELD`. */
export class RunConflictError extends ConflictError {}

/** The driver's epoch is no longer the current one: code `DRIVER_LOST`. */
export class DriverLostError extends LeaseLostError {
  constructor(input: { runId: string; epoch: number }, options: { cause?: unknown } = {}) {
    super('DRIVER_LOST', `Run ${input.runId} is no longer driven under epoch ${input.epoch}; another host owns it.`, {
      details: input,
      ...options,
    })
  }
}

/** A wrong argument. A `TypeError`, so that a programmer's mistake looks like one, with a code all the same. */
export class InvalidInputError extends TypeError {
  readonly code: ErrorCode
  readonly details: ErrorDetails
  readonly retryable = false

  constructor(code: ErrorCode, message: string, options: Omit<HoldfastErrorOptions, 'retryable'> = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'InvalidInputError'
    this.code = code
    this.details = options.details ?? {}
    brand(this)
  }
}
