import { InvalidInputError } from './errors/error-classes.ts'

/** Longest id in UTF-8 bytes. Leaves room for two ids and a separator in a PostgreSQL index entry. */
export const MAX_ID_BYTES = 256

// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/** Why `value` is not usable as an id, or undefined when it is. */
export function idFault(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a string'
  if (value.length === 0) return 'must not be empty'
  if (CONTROL_CHARACTER.test(value)) return 'must not contain control characters'
  if (!value.isWellFormed()) return 'must not contain lone surrogates'
  if (new TextEncoder().encode(value).length > MAX_ID_BYTES) return `must not exceed ${MAX_ID_BYTES} UTF-8 bytes`
  return undefined
}

/** Returns `value` when it is a usable id, else throws `INVALID_ID`. `kind` is the field's name, as `runId`. */
export function assertId(kind: string, value: unknown): string {
  const fault = idFault(value)
  if (fault !== undefined) throw new InvalidInputError('INVALID_ID', `${kind} ${fault}.`, { details: { kind } })
  return value as string
}

/** Returns `value` when it is a finite, non-negative epoch time or duration in milliseconds, else `INVALID_ARGUMENT`. */
export function assertMs(kind: string, value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) {
    throw new InvalidInputError('INVALID_ARGUMENT', `${kind} must be a finite number of milliseconds, 0 or more.`)
  }
  return value
}
