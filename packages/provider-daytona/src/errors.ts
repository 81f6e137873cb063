import type { ErrorCode, HoldfastErrorLike } from '@holdfast/core'
import { isHoldfastError, NotFoundError, ProviderError, RefusedError } from '@holdfast/core/provider'
import { readVendorFailure } from './vendor-failure.ts'
import type { VendorFailure, VendorFailureKind } from './vendor-failure.ts'

interface Reaction {
  code: ErrorCode
  retryable: boolean
  advice: string
}

/** What each kind of failure means to a caller. The only place that says so. */
const REACTIONS: Record<Exclude<VendorFailureKind, 'not-found' | 'refused'>, Reaction> = {
  conflict: { code: 'PROVIDER_UNAVAILABLE', retryable: true, advice: 'Another change is in progress; try again.' },
  'rate-limited': { code: 'PROVIDER_RATE_LIMITED', retryable: true, advice: 'Slow down and try again.' },
  invalid: { code: 'PROVIDER_FAILED', retryable: false, advice: 'The service does not take this request.' },
  'server-timeout': { code: 'PROVIDER_TIMEOUT', retryable: true, advice: 'It may still take effect.' },
  server: { code: 'PROVIDER_UNAVAILABLE', retryable: true, advice: 'Try again later.' },
  connection: { code: 'PROVIDER_UNAVAILABLE', retryable: true, advice: 'Check the network and apiUrl, and try again.' },
  'client-timeout': { code: 'PROVIDER_TIMEOUT', retryable: true, advice: 'It may still take effect.' },
  'foreign-answer': {
    code: 'PROVIDER_FAILED',
    retryable: false,
    advice: 'The answer is a web page, so apiUrl does not name the Daytona API.',
  },
  unknown: { code: 'PROVIDER_FAILED', retryable: false, advice: 'The cause has its answer.' },
}

/** A vendor's error as a Holdfast error. One that is a Holdfast error already passes through. */
export function mapDaytonaError(error: unknown, operation: string): HoldfastErrorLike {
  if (isHoldfastError(error)) return error
  return daytonaErrorOf(readVendorFailure(error), error, operation)
}

function daytonaErrorOf(failure: VendorFailure, error: unknown, operation: string): HoldfastErrorLike {
  const options = {
    details: {
      operation,
      statusCode: failure.statusCode,
      serviceCode: failure.serviceCode,
      retryAfterMs: failure.retryAfterMs,
    },
    cause: safeCause(error, failure),
  }
  if (failure.kind === 'not-found') {
    return new NotFoundError('SANDBOX_NOT_FOUND', `${operation}: the service knows no such sandbox.`, options)
  }
  const told = `${operation} failed: ${statement(failure)}`
  if (failure.kind === 'refused') {
    const advice = 'Check the key, its permissions and the quota.'
    return new RefusedError('PROVIDER_REFUSED', `${told} ${advice}`, options)
  }
  const { code, retryable, advice } = REACTIONS[failure.kind]
  return new ProviderError(code, `${told} ${advice}`, { ...options, retryable })
}

function statement(failure: VendorFailure): string {
  const status = failure.statusCode === undefined ? '' : ` (status ${failure.statusCode})`
  return `${failure.message.replace(/\.$/, '')}${status}.`
}

/** Events of a WebSocket hold the request with its credentials, so only their text is kept. */
function safeCause(error: unknown, failure: VendorFailure): unknown {
  return error instanceof Error ? error : new Error(failure.message)
}

/** Whether the same request may succeed when it is simply sent again. */
export function isTransient(error: unknown): boolean {
  if (!isHoldfastError(error)) return false
  return error.retryable
}

/** Whether the service said that the thing does not exist. Nothing else counts as gone. */
export function isGone(error: unknown): boolean {
  return isHoldfastError(error, 'SANDBOX_NOT_FOUND')
}

/** The HTTP status behind a mapped error, where there was one. */
export function statusOf(error: unknown): number | undefined {
  const status = isHoldfastError(error) ? error.details['statusCode'] : undefined
  return typeof status === 'number' ? status : undefined
}

/** Whether a failed request says nothing about whether the sandbox took it. */
export function isAmbiguous(error: unknown): boolean {
  if (isHoldfastError(error, 'SANDBOX_UNREACHABLE')) return true
  return isTransient(error) && statusOf(error) !== 409 && !isHoldfastError(error, 'SANDBOX_STOPPED')
}

/** For an answer that came with success and is not what the service gives. */
export function foreignAnswer(operation: string): ProviderError {
  const message = `${operation}: the answer is not one of the Daytona service. Check apiUrl.`
  return new ProviderError('PROVIDER_UNAVAILABLE', message, { details: { operation }, retryable: true })
}
