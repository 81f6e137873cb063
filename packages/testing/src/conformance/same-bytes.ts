import assert from 'node:assert/strict'

/**
 * Fails with the place where the bytes differ. `assert.deepEqual` would show all of them, and comparing megabytes for the
 * message takes a recent Node more memory than a machine has.
 */
export function assertSameBytes(actual: Uint8Array, expected: Uint8Array, what = 'the bytes'): void {
  if (Buffer.compare(actual, expected) === 0) return
  const at = expected.findIndex((byte, index) => byte !== actual[index])
  const where = at === -1 ? expected.length : at
  assert.fail(`${what}: ${actual.length} bytes, of ${expected.length}, which differ from byte ${where} on`)
}
