import { InvalidInputError } from '../errors/error-classes.ts'
import { assertMs } from '../identifier.ts'

/** Times of checkpoint writer leases. */
export interface CheckpointWriterOptions {
  /** How long a writer lease lasts. Default 120 s. */
  leaseDurationMs?: number
  /** When its holder should renew it. Default 45 s. */
  renewAfterMs?: number
}

const DEFAULT_LEASE_MS = 120_000
const DEFAULT_RENEW_AFTER_MS = 45_000

/** The times with their defaults. `INVALID_ARGUMENT`, or `INVALID_CONFIGURATION` when a renewal would come too late. */
export function checkpointWriterTimes(options: CheckpointWriterOptions): Required<CheckpointWriterOptions> {
  const leaseDurationMs = assertMs('leaseDurationMs', options.leaseDurationMs ?? DEFAULT_LEASE_MS)
  const renewAfterMs = assertMs('renewAfterMs', options.renewAfterMs ?? DEFAULT_RENEW_AFTER_MS)
  if (renewAfterMs < leaseDurationMs) return { leaseDurationMs, renewAfterMs }
  throw new InvalidInputError('INVALID_CONFIGURATION', 'renewAfterMs must be shorter than leaseDurationMs.')
}
