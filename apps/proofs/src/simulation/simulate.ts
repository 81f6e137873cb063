import { simulateSeed } from './simulate-seed.ts'
import type { SeedResult } from './simulate-seed.ts'
import type { Mutant } from './mutant.ts'

export interface SimulateInput {
  seed: number
  runs: number
  mutant?: Mutant | undefined
  onSeed?: (seed: number) => void
}

/** Lives through `runs` seeds from `seed` on. Answers the first that failed, or null. */
export async function simulate({ seed, runs, mutant, onSeed }: SimulateInput): Promise<SeedResult | null> {
  for (let done = 0; done < runs; done += 1) {
    onSeed?.(seed + done)
    const result = await simulateSeed(seed + done, mutant)
    if (result.faults.length > 0) return result
  }
  return null
}
