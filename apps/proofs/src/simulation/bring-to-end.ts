import { rejoin } from './chaos.ts'
import type { RunScript } from './run-script.ts'
import type { SimHost } from './sim-host.ts'
import type { SimStage } from './sim-stage.ts'

/** Steps that a healthy world gets to come to rest. */
const MAX_STEPS = 6_000
/** Simulated time after which somebody presses Stop on what still runs. */
const PATIENCE_MS = 150_000
/** How often somebody looks after runs without a host. */
const REAP_EVERY_MS = 35_000

/**
 * The weather clears: frozen hosts wake up, nothing fails any more, runs without a host are adopted, viewers come back,
 * and then each thread gets one more message. False when that does not come to rest.
 */
export async function bringToEnd(stage: SimStage, threadIds: readonly string[]): Promise<boolean> {
  const { world } = stage
  Object.assign(world.weather, { failBefore: 0, failAfter: 0 })
  const medic = stage.addHost()
  for (const host of stage.hosts) {
    if (host.isFrozen) host.thaw()
    host.isHealthy = true
  }
  world.note('the weather clears')
  if (!(await rest(stage, medic))) return false
  for (const threadId of threadIds) stage.send(medic, lastMessage(threadId))
  world.note('one more message each')
  if (!(await rest(stage, medic))) return false
  for (const threadId of threadIds) {
    const run = await stage.stores.runs.get(`last-${threadId}`)
    if (run?.status !== 'completed') world.fault(`the next message of ${threadId} is ${run?.status ?? 'refused'}`)
  }
  return true
}

function lastMessage(threadId: string): RunScript {
  const runId = `last-${threadId}`
  return {
    runId,
    threadId,
    turns: [[{ kind: 'call', tool: 'peek', step: `${runId}.0` }], [{ kind: 'say', text: `${runId} ends` }]],
  }
}

async function rest(stage: SimStage, medic: SimHost): Promise<boolean> {
  const { world } = stage
  const startedAt = world.clock.monotonic()
  let reapedAt = Number.NEGATIVE_INFINITY
  let cancelledAt = startedAt
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const now = world.clock.monotonic()
    if (step % 20 === 0) rejoin(stage, medic)
    if (now - reapedAt >= REAP_EVERY_MS) {
      reapedAt = now
      for (const run of await running(stage)) void stage.adopt(medic, run, true)
    }
    if (now - cancelledAt > PATIENCE_MS) {
      cancelledAt = now
      for (const run of await running(stage)) stage.cancel(medic, run, false)
    }
    if (step % 10 === 0 && (await isAtRest(stage))) return true
    if (!(await world.step())) await world.clock.advance(1_000)
  }
  for (const { host, what } of world.promised) if (!host.isDead) world.fault(`never settled: ${what}`)
  for (const run of await running(stage)) world.fault(`run ${run} never ended`)
  for (const viewer of stage.viewers) {
    if (!viewer.hasLeft && !viewer.hasEnded) world.fault(`${viewer.name} still waits for the end of ${viewer.runId}`)
  }
  return false
}

async function running(stage: SimStage): Promise<string[]> {
  return (await stage.stores.drivers.list({ status: 'running', limit: 1_000 })).map((run) => run.runId)
}

async function isAtRest(stage: SimStage): Promise<boolean> {
  for (const { host } of stage.world.promised) if (!host.isDead) return false
  if (stage.viewers.some((viewer) => !viewer.hasLeft && !viewer.hasEnded)) return false
  return (await running(stage)).length === 0
}
