import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@holdfast/testing'
import type { TestPostgres } from '@holdfast/testing'
import { startDaytonaServer } from '@holdfast/testing/daytona'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSecondHost } from '../../src/crash/crash-round.ts'
import type { SecondHost } from '../../src/crash/crash-round.ts'
import type { ProviderChoice } from '../../src/crash/crash-provider.mjs'
import { failuresOf, undisturbedCalls } from '../../src/crash/crash-rounds.ts'
import { pointsOf, spread } from '../../src/crash/kill-points.ts'

/** `npm run storm:crash` kills at every point. */
const IS_STORM = process.env['PROOFS_STORM'] === '1'
const POINTS = IS_STORM ? Number.POSITIVE_INFINITY : 8
const AT_ONCE = 2

let database: TestPostgres
let dir: string
const closing: (() => Promise<void>)[] = []

beforeAll(async () => {
  ;[database, dir] = await Promise.all([startPostgres(), mkdtemp(join(tmpdir(), 'holdfast-crash-'))])
}, 60_000)

afterAll(async () => {
  for (const close of closing) await close()
  await database?.stop()
  await rm(dir, { recursive: true, force: true })
})

async function openHost(choice: ProviderChoice, options: { savesCheckpoints?: boolean }): Promise<SecondHost> {
  const second = await openSecondHost((await database.createDatabase()).url, choice, options)
  closing.unshift(() => second.stores.close())
  return second
}

describe('a host that is killed', { timeout: 1_800_000 }, () => {
  it('with checkpoints on is continued by another, and a completed run has its checkpoint', async () => {
    const second = await openHost({ kind: 'process', dir }, { savesCheckpoints: true })
    const calls = await undisturbedCalls(second)
    // Where the save at the end begins; before that the matrix without checkpoints kills too.
    const saving = calls.lastIndexOf('checkpoints.getHead')
    expect(saving).toBeGreaterThan(0)
    const points = pointsOf(calls).filter(({ crash }) => IS_STORM || (crash?.call ?? 0) > saving)
    const chosen = spread(points, POINTS)
    expect(chosen.length).toBeGreaterThanOrEqual(8)
    expect(await failuresOf(second, chosen, AT_ONCE)).toEqual([])
  })

  it('with its sandboxes on Daytona is continued by another', async () => {
    const server = await startDaytonaServer()
    closing.push(() => server.close())
    const choice = { kind: 'daytona', apiUrl: server.url, apiKey: server.apiKey } as const
    const second = await openHost(choice, {})
    const chosen = spread(pointsOf(await undisturbedCalls(second)), POINTS)
    expect(chosen.length).toBeGreaterThanOrEqual(8)
    expect(await failuresOf(second, chosen, AT_ONCE)).toEqual([])
    const alive = (): unknown[] =>
      server.sandboxes().filter(({ state }) => !['destroying', 'destroyed'].includes(state))
    await expect.poll(alive, { timeout: 10_000 }).toEqual([])
  })
})
