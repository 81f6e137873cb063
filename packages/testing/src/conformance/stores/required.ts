import assert from 'node:assert/strict'

/** What is optional in a type and promised by the case's `needs`. */
export function required<T>(value: T | null | undefined, what: string): T {
  assert.ok(value !== undefined && value !== null, `${what} is missing`)
  return value
}
