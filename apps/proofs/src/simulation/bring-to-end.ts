import { rejoin } from './chaos.ts'
import type { RunScript } from './run-script.ts'
import type { SimHost } from './sim-host.ts'
import { reapOn } from './sim-reaper.ts'
import type { SimStage } from './sim-stage.ts'

/** Steps that a healthy world gets to come to rest. */
const MAX_STEPS = 6_000
/** Simulated time after which somebody presses Stop on what a host still drives. What none drives is the reaper's. */
const PATIENCE_MS = 150_000
/** How often somebody looks after what nobody looks after. */
const REAP_EVERY_MS = 35_000
/** Together longer than the longest wait between two tries, and than clocks are wrong by. */
const MAX_RECLAIMS = 30
const RECLAIM_EVERY_MS = 15 * 60_000

/**
 * The weather clears: frozen hosts wake up, nothing fails any more, a reaper looks after what is left, viewers come back,
 * some of what threads wait for is answered, and then each thread gets one more message. False when that does not come to rest.
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
  for (const threadId of threadIds) if (world.random.chance(0.5)) await stage.answer(medic, threadId)
  if (!(await rest(stage, medic))) return false
  for (const threadId of threadIds) stage.send(medic, lastMessage(threadId))
  world.note('one more message each')
  if (!(await rest(stage, medic))) return false
  for (const threadId of threadIds) {
    const run = await stage.stores.runs.get(`last-${threadId}`)
    if (run?.status !== 'completed') world.fault(`the next message of ${threadId} is ${run?.status ?? 'refused'}`)
  }
  return reclaimAll(stage, medic)
}

/** The reaper destroys what is condemned or half-built, however often that failed and whatever clock its row is from. */
async function reclaimAll(stage: SimStage, medic: SimHost): Promise<boolean> {
  const { world, stores } = stage
  for (let round = 0; round < MAX_RECLAIMS; round += 1) {
    const { records = [] } = (await stores.instances.list?.({ limit: 1_000 })) ?? {}
    const left = records.filter(({ state = 'ready' }) => state !== 'ready')
    if (left.length === 0) return true
    await world.clock.advance(RECLAIM_EVERY_MS)
    void reapOn(world, medic)
    if (!(await rest(stage, medic))) return false
  }
  world.fault('a sandbox that should be gone is never reclaimed')
  return false
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
      void reapOn(world, medic)
    }
    if (now - cancelledAt > PATIENCE_MS) {
      cancelledAt = now
      for (const run of await driven(stage)) stage.cancel(medic, run, false)
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

async function driven(stage: SimStage): Promise<string[]> {
  const drivers = (await stage.stores.drivers.findDrivers?.({ runIds: await running(stage) })) ?? []
  return drivers.filter(({ isLive }) => isLive).map(({ runId }) => runId)
}

async function isAtRest(stage: SimStage): Promise<boolean> {
  for (const { host } of stage.world.promised) if (!host.isDead) return false
  if (stage.viewers.some((viewer) => !viewer.hasLeft && !viewer.hasEnded)) return false
  return (await running(stage)).length === 0
}
