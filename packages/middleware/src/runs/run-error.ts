import { isHoldfastError } from '@holdfast/core'
import type { RunError } from '@holdfast/core'
import { toRunErrorPayload } from '@tanstack/ai/adapter-internals'
import type { SecretRedactor } from '../secrets/secret-redactor.ts'

/** What a record, a log and a client may know of an error: its message without secrets and its code, never its cause. */
export function toRunError(error: unknown, redactor?: SecretRedactor): RunError {
  const { message: text, code } = isHoldfastError(error) ? error : toRunErrorPayload(error)
  const message = redactor?.text(text) ?? text
  return code === undefined ? { message } : { message, code }
}
