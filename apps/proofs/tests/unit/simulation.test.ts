import { describe, expect, it } from 'vitest'
import { PLANTED_BUGS } from '../../src/simulation/planted-bugs.ts'
import { simulate } from '../../src/simulation/simulate.ts'
import { simulateSeed } from '../../src/simulation/simulate-seed.ts'

/** `npm run simulate` lives through many more. */
const SEEDS = 300
/** Within so many seeds a planted bug has to be found. */
const BOUND = 400
/** Only ends what hangs: a busy machine takes long. */
const MAX_MS = 900_000

describe('the simulation', () => {
  it(`finds nothing wrong in ${SEEDS} seeds`, { timeout: MAX_MS }, async () => {
    const failure = await simulate({ seed: 1, runs: SEEDS })
    expect(failure, `seed ${failure?.seed}: ${failure?.faults.join('; ')}`).toBeNull()
  })

  it('lives the same life for the same seed', { timeout: MAX_MS }, async () => {
    for (const seed of [11, 12, 13, 14, 15]) {
      const first = await simulateSeed(seed)
      const second = await simulateSeed(seed)
      expect(second.trace).toEqual(first.trace)
    }
  })
})

describe('a planted bug is found:', () => {
  for (const mutant of PLANTED_BUGS) {
    it(mutant.name, { timeout: MAX_MS }, async () => {
      const failure = await simulate({ seed: 1, runs: BOUND, mutant })
      expect(failure?.faults.length ?? 0).toBeGreaterThan(0)
    })
  }
})
