import { isHoldfastError } from '@holdfast/core'
import type { RunError } from '@holdfast/core'
import { toRunErrorPayload } from '@tanstack/ai/adapter-internals'

/** What a record and a client may know of an error: its message and code, never its cause. */
export function toRunError(error: unknown): RunError {
  if (isHoldfastError(error)) return { message: error.message, code: error.code }
  const { message, code } = toRunErrorPayload(error)
  return code === undefined ? { message } : { message, code }
}
