import assert from 'node:assert/strict'
import { isHoldfastError } from '@holdfast/core'
import type { ErrorCode, HoldfastErrorLike } from '@holdfast/core'

/** Fails unless `call` gives a promise (no bare throw) that rejects with a Holdfast error of this code. */
export async function rejectsWith(
  code: ErrorCode,
  call: () => Promise<unknown>,
  what?: string,
): Promise<HoldfastErrorLike> {
  const label = what === undefined ? '' : `${what}: `
  let promise: Promise<unknown>
  try {
    promise = call()
  } catch (error) {
    assert.fail(`${label}threw instead of giving a promise that rejects with ${code}: ${String(error)}`)
  }
  const error = await promise.then(
    (value) => assert.fail(`${label}expected ${code}, got the answer ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  )
  return mustHaveCode(code, error, label)
}

/** For calls that are not asynchronous. */
export function throwsWith(code: ErrorCode, call: () => unknown, what: string): void {
  try {
    call()
  } catch (error) {
    mustHaveCode(code, error, `${what}: `)
    return
  }
  assert.fail(`${what}: expected ${code}, but nothing was thrown`)
}

function mustHaveCode(code: ErrorCode, error: unknown, label: string): HoldfastErrorLike {
  if (isHoldfastError(error, code)) return error
  const got = isHoldfastError(error) ? `${error.code} (${error.message})` : String(error)
  throw new assert.AssertionError({ message: `${label}expected ${code}, got ${got}`, actual: error, expected: code })
}
