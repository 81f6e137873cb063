import type { ErrorCode } from './error-codes.ts'

/** Shared by every copy of this package in a process, so that two copies still recognise each other's errors. */
const BRAND = Symbol.for('holdfast.error')

/** Plain JSON that explains an error to a program. Never holds a secret. */
export type ErrorDetails = { readonly [key: string]: string | number | boolean | null | readonly string[] | undefined }

/** What an error carries besides its code and message. */
export interface HoldfastErrorOptions {
  details?: ErrorDetails
  /** True when the same call may succeed later without any change by the caller. */
  retryable?: boolean
  cause?: unknown
}

/** Base of every error that Holdfast raises on purpose. A subclass per reaction of the caller, a code per reason. */
export class HoldfastError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetails
  readonly retryable: boolean

  constructor(code: ErrorCode, message: string, options: HoldfastErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = new.target.name
    this.code = code
    this.details = options.details ?? {}
    this.retryable = options.retryable ?? false
    brand(this)
  }
}

/** Marks a value as a Holdfast error. Used for the one error class that must extend `TypeError`. */
export function brand(error: object): void {
  Object.defineProperty(error, BRAND, { value: true, enumerable: false })
}

/** What `isHoldfastError` promises about a value: the base class's fields, whichever copy of core made it. */
export type HoldfastErrorLike = Error & {
  readonly code: ErrorCode
  readonly details: ErrorDetails
  readonly retryable: boolean
}

/** Whether `value` is a Holdfast error, optionally with one given code. Works across copies of this package. */
export function isHoldfastError(value: unknown, code?: ErrorCode): value is HoldfastErrorLike {
  if (!(value instanceof Error) || Reflect.get(value, BRAND) !== true) return false
  return code === undefined || Reflect.get(value, 'code') === code
}
