import { randomScript } from './run-script.ts'
import type { SimStage } from './sim-stage.ts'
import type { SimHost } from './sim-host.ts'
import { reapOn } from './sim-reaper.ts'

/** How often things happen, as probabilities for one step. */
export interface ChaosRates {
  send: number
  answer: number
  cancel: number
  watch: number
  leave: number
  rejoin: number
  crash: number
  freeze: number
  stop: number
  adopt: number
  reap: number
  jump: number
}

export interface ChaosLimits {
  hosts: number
  threads: number
  runs: number
  steps: number
}

/** People, processes and machines that do as they please, until the steps are used up. */
export async function unleash(stage: SimStage, rates: ChaosRates, limits: ChaosLimits): Promise<void> {
  const { world } = stage
  const { random } = world
  for (let step = 0; step < limits.steps; step += 1) {
    while (stage.hosts.filter((host) => !host.isDead).length < limits.hosts) stage.addHost()
    await act(stage, rates, limits, step)
    const hasMoved = await world.step()
    if (!hasMoved && stage.scripts.size >= limits.runs && random.chance(0.2)) return
  }
}

async function act(stage: SimStage, rates: ChaosRates, limits: ChaosLimits, step: number): Promise<void> {
  const { random } = stage.world
  const host = stage.upHosts.length > 0 ? random.pick(stage.upHosts) : undefined
  if (host === undefined) return
  const runIds = [...stage.scripts.keys()]
  if (step === 0 || (runIds.length < limits.runs && random.chance(rates.send))) sendNext(stage, host, limits)
  if (runIds.length > 0) {
    if (random.chance(rates.cancel)) stage.cancel(host, random.pick(runIds), random.chance(0.3))
    if (random.chance(rates.watch)) await stage.addWatcher(host, random.pick(runIds))
    if (random.chance(rates.adopt)) void stage.adopt(host, random.pick(runIds), random.chance(0.8))
  }
  if (random.chance(rates.answer)) await stage.answer(host, `thread-${random.whole(1, limits.threads)}`)
  if (random.chance(rates.reap)) void reapOn(stage.world, host)
  if (random.chance(rates.rejoin)) rejoin(stage, host)
  if (stage.viewers.length > 0 && random.chance(rates.leave)) random.pick(stage.viewers).leave()
  await harm(stage, rates, host)
}

async function harm(stage: SimStage, rates: ChaosRates, host: SimHost): Promise<void> {
  const { random, clock } = stage.world
  if (random.chance(rates.crash)) await host.crash()
  else if (random.chance(rates.freeze)) {
    host.freeze()
    clock.schedule(random.pick([2_000, 29_000, 45_000, 120_000]), () => host.isFrozen && host.thaw())
  } else if (random.chance(rates.stop)) stage.stop(host)
  if (!random.chance(rates.jump)) return
  const byMs = random.pick([-20_000, 20_000, 3_600_000])
  stage.world.note(`time jumps by ${byMs}`)
  if (random.chance(0.5)) host.clock.wallOffsetMs += byMs
  else clock.jumpWallClock(byMs)
}

function sendNext(stage: SimStage, host: SimHost, limits: ChaosLimits): void {
  const { random } = stage.world
  const threadId = `thread-${random.whole(1, limits.threads)}`
  stage.send(host, randomScript(random, `run-${stage.scripts.size + 1}`, threadId))
}

/** Those whose stream broke off come back, to whichever host answers; who never had one sends again. */
export function rejoin(stage: SimStage, host: SimHost): void {
  for (const viewer of stage.viewers) {
    if (!viewer.isCut || viewer.hasLeft || viewer.hasEnded) continue
    const script = stage.scripts.get(viewer.runId)
    const mayResend = viewer.seen.length === 0 && viewer.startOffset === '-1' && script !== undefined
    if (mayResend && stage.world.random.chance(0.3)) stage.send(host, script, viewer)
    else void viewer.join(host)
  }
}
