import { isHoldfastError } from '@holdfast/core'
import type { DriverClaim } from '@holdfast/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ConcurrencyServer, ROUNDS } from '../support/concurrency-server.ts'

let server: ConcurrencyServer
beforeAll(async () => {
  server = await ConcurrencyServer.start()
}, 60_000)
afterAll(() => server.stop())

import { textChunk as chunk } from '../support/text-chunk.ts'

describe('claims', () => {
  test('of fifty claimers of one run one gets each epoch, and no older one appends', { timeout: 600_000 }, async () => {
    const hosts = server.hosts(8)
    for (let round = 0; round < ROUNDS; round += 1) {
      const runId = `run-${round}`
      const winners: DriverClaim[] = []
      for (let epoch = 1; epoch <= 3; epoch += 1) {
        const outcomes = await Promise.allSettled(
          Array.from({ length: 50 }, (_, index) =>
            hosts[index % hosts.length]!.drivers.claim({
              runId,
              threadId: `thread-${round}`,
              owner: `owner-${epoch}-${index}`,
              ttlMs: 60_000,
            }),
          ),
        )
        const won = outcomes.filter((outcome) => outcome.status === 'fulfilled').map((outcome) => outcome.value)
        expect(won).toHaveLength(1)
        expect(won[0]!.epoch).toBe(epoch)
        for (const outcome of outcomes) {
          if (outcome.status === 'rejected') expect(isHoldfastError(outcome.reason, 'DRIVER_HELD')).toBe(true)
        }
        winners.push(won[0]!)
        await Promise.all(
          winners.map(async ({ epoch: mine }, index) => {
            const append = hosts[index]!.eventLog.open({ runId, epoch: mine }).append([chunk(`${mine}`)])
            if (mine === epoch) await append
            else await expect(append).rejects.toMatchObject({ code: 'DRIVER_LOST' })
          }),
        )
        await hosts[0]!.drivers.release({ runId, epoch })
      }
      const events = await hosts[1]!.eventLog.open({ runId }).snapshot()
      expect(events.map((entry) => (entry.chunk as { name?: string }).name)).toEqual(['1', '2', '3'])
    }
  })

  test(
    'of twenty sends on one thread one is admitted, and the next one after it ends',
    { timeout: 600_000 },
    async () => {
      const hosts = server.hosts(2)
      for (let round = 0; round < ROUNDS; round += 1) {
        const threadId = `busy-${round}`
        const send = (prefix: string) =>
          Promise.allSettled(
            Array.from({ length: 20 }, (_, index) =>
              hosts[index % 2]!.drivers.claim({
                runId: `${prefix}-${round}-${index}`,
                threadId,
                owner: `owner-${index}`,
                ttlMs: 60_000,
              }).then((claim) => ({ ...claim, runId: `${prefix}-${round}-${index}` })),
            ),
          )
        for (const prefix of ['first', 'second']) {
          const outcomes = await send(prefix)
          const won = outcomes.filter((outcome) => outcome.status === 'fulfilled').map((outcome) => outcome.value)
          expect(won).toHaveLength(1)
          const { runId, epoch } = won[0]!
          for (const outcome of outcomes) {
            if (outcome.status === 'rejected')
              expect(outcome.reason).toMatchObject({ code: 'THREAD_BUSY', details: { activeRunId: runId } })
          }
          expect(await hosts[0]!.runs.listByThread!(threadId)).toHaveLength(prefix === 'first' ? 1 : 2)
          expect(await hosts[1]!.drivers.finish({ runId, epoch, status: 'completed' })).toBe(true)
        }
      }
    },
  )
})
