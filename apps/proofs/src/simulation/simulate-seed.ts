import { unleash } from './chaos.ts'
import type { ChaosLimits, ChaosRates } from './chaos.ts'
import { checkRuns } from './check-runs.ts'
import { bringToEnd } from './bring-to-end.ts'
import type { Mutant } from './mutant.ts'
import { SeededRandom } from './seeded-random.ts'
import { SimStage } from './sim-stage.ts'
import { SimWorld } from './sim-world.ts'
import type { Weather } from './sim-world.ts'
import { withoutRealTime } from './without-real-time.ts'

export interface SeedResult {
  readonly seed: number
  /** What must never happen, and did. */
  readonly faults: readonly string[]
  readonly trace: readonly string[]
  readonly fingerprint: string
}

const CALM: ChaosRates = {
  send: 0.02,
  answer: 0.05,
  cancel: 0.003,
  watch: 0.01,
  leave: 0.005,
  rejoin: 0.1,
  crash: 0,
  freeze: 0,
  stop: 0,
  adopt: 0.003,
  reap: 0.004,
  jump: 0,
}
const ROUGH: ChaosRates = { ...CALM, crash: 0.01, freeze: 0.004, stop: 0.002, jump: 0.001 }
const WILD: ChaosRates = {
  ...ROUGH,
  crash: 0.03,
  freeze: 0.02,
  stop: 0.006,
  cancel: 0.01,
  adopt: 0.01,
  reap: 0.015,
  jump: 0.005,
}

const FAIR: Weather = { failBefore: 0, failAfter: 0, slowReply: 0.1, reorder: 0.3 }
const STORMY: Weather = { failBefore: 0.01, failAfter: 0.01, slowReply: 0.3, reorder: 0.5 }

/** Lives through one seed. The same seed gives the same trace. */
export function simulateSeed(seed: number, mutant?: Mutant): Promise<SeedResult> {
  return withoutRealTime(async () => {
    const choice = new SeededRandom(seed * 7 + 1)
    const weather = choice.pick([FAIR, FAIR, STORMY])
    const rates = choice.pick([CALM, ROUGH, ROUGH, WILD])
    const limits: ChaosLimits = {
      hosts: choice.whole(1, 3),
      threads: choice.whole(1, 2),
      runs: choice.whole(1, 4),
      steps: choice.whole(60, 350),
    }
    const world = new SimWorld(seed, { ...weather })
    const stage = new SimStage(world, {
      providerFailRate: choice.pick([0, 0, 0.05]),
      destroyOnComplete: choice.chance(0.2),
      mutant,
    })
    await unleash(stage, rates, limits)
    const threadIds = [...new Set([...stage.scripts.values()].map((script) => script.threadId))]
    if (await bringToEnd(stage, threadIds)) {
      const { stores, service, viewers, scripts } = stage
      await checkRuns({ world, stores, service, viewers, threadIds, scripts })
    }
    for (const host of stage.hosts) if (!host.isDead) await host.crash()
    return { seed, faults: world.faults, trace: world.trace, fingerprint: world.fingerprint }
  })
}
