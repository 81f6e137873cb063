import { expect, test } from 'vitest'
import { runStorm } from '../storm/run-storm.ts'

test.each([1, 2])(
  'seed %i: nothing is lost, doubled, invented, leaked or left waiting',
  { timeout: 180_000 },
  async (seed) => {
    const outcomes = await runStorm({ seed, operations: 60, leases: 4 })
    expect(Object.values(outcomes).reduce((sum, count) => sum + count, 0)).toBe(60)
  },
)
