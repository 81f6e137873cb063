import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@holdfast/testing'
import type { TestPostgres } from '@holdfast/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSecondHost } from '../../src/crash/crash-round.ts'
import type { SecondHost } from '../../src/crash/crash-round.ts'
import { failuresOf, undisturbedCalls } from '../../src/crash/crash-rounds.ts'
import { momentsOf, pointsOf, spread } from '../../src/crash/kill-points.ts'

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

describe('a host that is killed', { timeout: 1_800_000 }, () => {
  let calls: readonly string[] = []

  it('or not leaves the same: the undisturbed run', async () => {
    calls = await undisturbedCalls(second)
    expect(calls.length * 2).toBeGreaterThanOrEqual(40)
  })

  it('before or after a call of a store or the provider is continued by another', async () => {
    const chosen = spread(pointsOf(calls), POINTS)
    expect(chosen.length).toBeGreaterThanOrEqual(40)
    expect(await failuresOf(second, chosen, AT_ONCE)).toEqual([])
  })

  it('at any moment is continued by another', async () => {
    expect(await failuresOf(second, momentsOf(SEED, MOMENTS, 900), AT_ONCE)).toEqual([])
  })
})
