import { HoldfastError, isHoldfastError, StoreError } from '@holdfast/core'

/** What a failure says about the statement: refused before it ran, undone, or perhaps done. */
export type Outcome = 'not-run' | 'undone' | 'unknown' | 'refused'

/** The connection was never made, or the server turned it away before it read a statement. */
const NOT_RUN = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'CONNECT_TIMEOUT',
  '08001',
  '08004',
  '53300', // too_many_connections
  '57P03', // cannot_connect_now
])

/** The server rolled the statement back, and a new try may succeed. */
const UNDONE = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '55P03', // lock_not_available
])

/** The connection ended while a statement was under way. */
const UNKNOWN = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  '08000',
  '08003',
  '08006',
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '40003', // statement_completion_unknown
])

const UNIQUE_VIOLATION = '23505'
const SCHEMA_MISSING = new Set(['3F000', '42P01', '42883'])

export function sqlCode(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' ? code : undefined
}

export function outcomeOf(error: unknown): Outcome {
  const code = sqlCode(error)
  if (code === undefined) return 'refused'
  if (NOT_RUN.has(code)) return 'not-run'
  if (UNDONE.has(code)) return 'undone'
  return UNKNOWN.has(code) ? 'unknown' : 'refused'
}

/** The name of the unique constraint that a statement ran into, if that is why it failed. */
export function violatedConstraint(error: unknown): string | undefined {
  const cause = error instanceof StoreError ? error.cause : error
  if (sqlCode(cause) !== UNIQUE_VIOLATION) return undefined
  const { constraint_name, constraint } = cause as { constraint_name?: string; constraint?: string }
  return constraint_name ?? constraint
}

/** The error that a caller sees. Messages name no value of the statement. */
export function storeError(error: unknown): Error {
  if (error instanceof HoldfastError || isHoldfastError(error)) return error
  const code = sqlCode(error)
  const details = code === undefined ? {} : { sqlState: code }
  const outcome = outcomeOf(error)
  if (outcome === 'not-run' || outcome === 'undone') {
    const message = 'The database could not be reached or was too busy; nothing was changed. Try again later.'
    return new StoreError('STORE_UNAVAILABLE', message, { details, retryable: true, cause: error })
  }
  if (outcome === 'unknown') {
    const message = 'The connection to the database was lost during a write, so that its outcome is unknown.'
    return new StoreError('STORE_OUTCOME_UNKNOWN', message, { details, cause: error })
  }
  if (code !== undefined && SCHEMA_MISSING.has(code)) {
    const message = 'The database lacks a table or function of this package. Run `holdfast-store migrate`.'
    return new StoreError('STORE_SCHEMA_MISSING', message, { details, cause: error })
  }
  if (code === 'CONNECTION_ENDED') return storeClosed()
  return new StoreError('STORE_FAILED', `The database refused a statement (${code ?? 'no code'}).`, {
    details,
    cause: error,
  })
}

export function storeClosed(): StoreError {
  return new StoreError('STORE_CLOSED', 'The stores were closed. Create them again to go on.')
}
