import { InvalidInputError, RefusedError } from '@holdfast/core'

/** What one checkpoint may hold at most. */
export interface CheckpointLimits {
  /** Largest file. Default 256 MiB, which is what the blob stores take. */
  readonly maxFileBytes: number
  /** All files together. Default 4 GiB. */
  readonly maxTotalBytes: number
  /** Files, directories and links. Default 100,000. */
  readonly maxEntries: number
}

const MIB = 1024 * 1024

const DEFAULTS: CheckpointLimits = { maxFileBytes: 256 * MIB, maxTotalBytes: 4_096 * MIB, maxEntries: 100_000 }

/** With defaults. `INVALID_CONFIGURATION` for a limit that is not a positive whole number. */
export function checkpointLimits(given: Partial<CheckpointLimits> = {}): CheckpointLimits {
  const limits = { ...DEFAULTS, ...given }
  for (const [name, value] of Object.entries(limits)) {
    if (Number.isSafeInteger(value) && value > 0) continue
    throw new InvalidInputError('INVALID_CONFIGURATION', `Checkpoint limit ${name} must be a whole number above 0.`)
  }
  return limits
}

/** `path` is what goes beyond the limit, or what stood first in line when it did. */
export function limitExceeded(input: {
  limit: keyof CheckpointLimits
  max: number
  path: string
  size: number
}): RefusedError {
  const { limit, max, path, size } = input
  const subject = limit === 'maxEntries' ? `${size} entries` : `${size} bytes`
  const message = `The checkpoint would exceed ${limit} (${max}) at ${JSON.stringify(path)} with ${subject}. Exclude it, or raise the limit.`
  return new RefusedError('LIMIT_EXCEEDED', message, { details: { limit, max, path, size } })
}
