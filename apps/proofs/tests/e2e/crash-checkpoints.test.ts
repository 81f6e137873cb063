import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startPostgres } from '@holdfast/testing'
import type { TestPostgres } from '@holdfast/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CheckpointCheck } from '../../src/crash/check-checkpoints.ts'
import type { CheckpointOperation } from '../../src/crash/check-checkpoints.ts'
import { stagedTrees, stageThread } from '../../src/crash/checkpoint-stages.ts'
import type { Stage, StagedThread } from '../../src/crash/checkpoint-stages.ts'
import { openSecondHost } from '../../src/crash/crash-round.ts'
import type { SecondHost } from '../../src/crash/crash-round.ts'
import { lifeOfHost } from '../../src/crash/host-life.ts'
import type { CrashPlan, HostLife } from '../../src/crash/host-life.ts'
import { momentsOf, pointsOf, spread } from '../../src/crash/kill-points.ts'
import { severalAtOnce } from '../../src/crash/several-at-once.ts'

const PROGRAM = fileURLToPath(new URL('../../src/crash/checkpoint-host.mjs', import.meta.url))

/** `npm run storm:crash` kills at every point and at many moments. */
const IS_STORM = process.env['PROOFS_STORM'] === '1'
const POINTS = IS_STORM ? Number.POSITIVE_INFINITY : 6
const MOMENTS = IS_STORM ? 40 : 0
const AT_ONCE = 6
const SEED = Number(process.env['PROOFS_SEED'] ?? 1)
const LIMIT_MS = 1_800_000

let database: TestPostgres
let dir: string
let second: SecondHost
let trees: ReadonlyMap<Stage, string>

beforeAll(async () => {
  ;[database, dir] = await Promise.all([startPostgres(), mkdtemp(join(tmpdir(), 'holdfast-crash-'))])
  second = await openSecondHost(database.url, { kind: 'process', dir }, { savesCheckpoints: true })
  trees = await stagedTrees(second)
}, 60_000)

afterAll(async () => {
  await second?.stores.close()
  await database?.stop()
  await rm(dir, { recursive: true, force: true })
})

async function host(operation: CheckpointOperation, thread: StagedThread, plan: CrashPlan): Promise<HostLife> {
  const { threadId, first, head, sandboxId, forkId } = thread
  const checkpointId = operation === 'restore' ? head : first
  const ids = { threadId, checkpointId, sandboxId, forkId }
  const { url, choice: provider } = second
  return lifeOfHost(PROGRAM, { url, provider, operation, ...ids, crash: plan.crash }, plan)
}

interface Round {
  /** What the head was afterwards. */
  found: string
  calls: readonly string[]
}

/** What is wrong goes into `failures`. */
async function round(operation: CheckpointOperation, plan: CrashPlan, failures: string[]): Promise<Round> {
  const thread = await stageThread(second, `${operation}-${plan.name.replaceAll(/[^a-z0-9]+/gi, '-')}`)
  const { calls = [] } = await host(operation, thread, plan)
  const check = new CheckpointCheck(second, thread, trees)
  const found = await check.run(operation).catch((error: unknown) => {
    check.faults.push(String(error))
    return 'unknown'
  })
  failures.push(...check.faults.map((fault) => `${plan.name}: ${fault}`))
  return { found, calls }
}

/** Kills at the points that are wanted and at moments; answers every state in which the head was found. */
async function killEverywhere(operation: CheckpointOperation): Promise<string[]> {
  const failures: string[] = []
  const { calls } = await round(operation, { name: 'undisturbed' }, failures)
  const plans = [...spread(pointsOf(calls), POINTS), ...momentsOf(SEED, MOMENTS, 500)]
  const found = new Set<string>()
  await severalAtOnce(plans, AT_ONCE, async (plan) => {
    found.add((await round(operation, plan, failures)).found)
  })
  expect(failures).toEqual([])
  expect(calls.length).toBeGreaterThan(5)
  return [...found].toSorted()
}

describe('a host that is killed', { timeout: LIMIT_MS }, () => {
  it('in a save leaves the old head or the new one, and the next run works', async () => {
    expect(await killEverywhere('save')).toEqual(['named', 'old'])
  })

  it('in a restore leaves the thread alone and a sandbox that can be restored again', async () => {
    expect(await killEverywhere('restore')).toEqual(['old'])
  })

  it('in a rewind leaves the thread as it was or rewound, and the next run works', async () => {
    expect(await killEverywhere('rewind')).toEqual(expect.arrayContaining(['old', 'rewind']))
  })

  it('in a fork leaves the source alone, and the new thread empty or forked', async () => {
    expect(await killEverywhere('fork')).toEqual(['old'])
  })

  it('leaves no sandbox behind', async () => {
    expect(await second.provider.list?.({ labels: {} })).toEqual([])
  })
})
