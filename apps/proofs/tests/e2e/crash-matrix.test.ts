import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@holdfast/testing'
import type { TestPostgres } from '@holdfast/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { faultsOfRound } from '../../src/crash/check-round.ts'
import { crashRound, openSecondHost } from '../../src/crash/crash-round.ts'
import type { SecondHost } from '../../src/crash/crash-round.ts'
import type { CrashPlan } from '../../src/crash/host-life.ts'
import { severalAtOnce } from '../../src/crash/several-at-once.ts'
import { SeededRandom } from '../../src/simulation/seeded-random.ts'

/** `npm run storm:crash` kills at every point and at many more moments. */
const IS_STORM = process.env['PROOFS_STORM'] === '1'
const POINTS = IS_STORM ? Number.POSITIVE_INFINITY : 40
const MOMENTS = IS_STORM ? 200 : 20
/** Rounds at the same time: most of a round is waiting for a lease to end. */
const AT_ONCE = 6
const SEED = Number(process.env['PROOFS_SEED'] ?? 1)

let database: TestPostgres
let dir: string
let second: SecondHost

beforeAll(async () => {
  ;[database, dir] = await Promise.all([startPostgres(), mkdtemp(join(tmpdir(), 'holdfast-crash-'))])
  second = await openSecondHost(database.url, { kind: 'process', dir })
}, 60_000)

afterAll(async () => {
  await second?.stores.close()
  await database?.stop()
  await rm(dir, { recursive: true, force: true })
})

/** Runs the rounds a few at a time; answers what went wrong, by name. */
async function failuresOf(plans: readonly CrashPlan[]): Promise<string[]> {
  const failures: string[] = []
  await severalAtOnce(plans, AT_ONCE, async (plan, index) => {
    const threadId = `${plan.name.replaceAll(/[^a-z0-9]+/gi, '-')}-${index}`
    const result = await crashRound(second, threadId, plan)
    for (const fault of await faultsOfRound(second, threadId, result)) failures.push(`${plan.name}: ${fault}`)
  })
  return failures
}

describe('a host that is killed', () => {
  let calls: string[] = []

  it('or not leaves the same: the undisturbed run', { timeout: 60_000 }, async () => {
    const result = await crashRound(second, 'undisturbed', { name: 'undisturbed' })
    expect(await faultsOfRound(second, 'undisturbed', result)).toEqual([])
    expect(result.exit).toBe('lived')
    calls = result.calls ?? []
    expect(calls.length * 2).toBeGreaterThanOrEqual(40)
  })

  it('before or after a call of a store or the provider is continued by another', { timeout: 1_800_000 }, async () => {
    const points = calls.flatMap((name, index) =>
      (['before', 'after'] as const).map((when) => ({ name: `${when} ${index + 1} ${name}`, call: index + 1, when })),
    )
    const step = Math.max(1, points.length / POINTS)
    const chosen = points.filter(
      (_, index) => index === 0 || Math.floor(index / step) !== Math.floor((index - 1) / step),
    )
    expect(chosen.length).toBeGreaterThanOrEqual(40)
    expect(await failuresOf(chosen.map(({ name, call, when }) => ({ name, crash: { call, when } })))).toEqual([])
  })

  it('at any moment is continued by another', { timeout: 1_800_000 }, async () => {
    const random = new SeededRandom(SEED)
    const plans = Array.from({ length: MOMENTS }, (_, index) => {
      const killAfterMs = random.whole(1, 900)
      return { name: `moment ${index} at ${killAfterMs} ms`, killAfterMs }
    })
    expect(await failuresOf(plans)).toEqual([])
  })
})
