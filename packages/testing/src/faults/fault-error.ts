import { ConflictError, NotFoundError, ProviderError, RefusedError } from '@holdfast/core'
import type { ErrorCode, HoldfastError } from '@holdfast/core'
import type { FaultOperation, FaultRule } from './fault-rule.ts'

const PROVIDER_CALLS: ReadonlySet<FaultOperation> = new Set([
  'create',
  'resume',
  'restoreSnapshot',
  'destroy',
  'list',
  'park',
  'probe',
])

const CONFLICTS: ReadonlySet<ErrorCode> = new Set(['FILE_CONFLICT', 'SANDBOX_FOREIGN'])
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  'PROVIDER_REFUSED',
  'POLICY_DENIED',
  'FILE_TOO_LARGE',
  'LIMIT_EXCEEDED',
])

/** The error that a rule asks for, in the class that core gives its code. */
export function faultError(rule: FaultRule): HoldfastError {
  const code = rule.code ?? (PROVIDER_CALLS.has(rule.on) ? 'PROVIDER_UNAVAILABLE' : 'SANDBOX_UNREACHABLE')
  const what = rule.do === 'lose-reply' ? `The answer to "${rule.on}" was lost` : `"${rule.on}" failed`
  const ErrorClass = errorClass(code)
  return new ErrorClass(code, `${what}, as the fault plan says.`, {
    retryable: rule.retryable ?? true,
    details: { operation: rule.on },
  })
}

function errorClass(code: ErrorCode): typeof ProviderError {
  if (code.endsWith('_NOT_FOUND')) return NotFoundError
  if (CONFLICTS.has(code)) return ConflictError
  if (REFUSALS.has(code)) return RefusedError
  return ProviderError
}
