import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'

const LIMIT_MS = 10_000
const LOOK_EVERY_MS = 100

/** Resolves once `look` gives `expected`; fails with the last answer after a while. For answers that may lag. */
export async function eventually<T>(look: () => Promise<T>, expected: T): Promise<void> {
  const startedAt = performance.now()
  for (;;) {
    const found = await look()
    try {
      assert.deepEqual(found, expected)
      return
    } catch (error) {
      if (performance.now() - startedAt > LIMIT_MS) throw error
    }
    await pause(LOOK_EVERY_MS)
  }
}
