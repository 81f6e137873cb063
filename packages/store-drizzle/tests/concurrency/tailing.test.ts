import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ConcurrencyServer, ROUNDS } from '../support/concurrency-server.ts'
import { readToEnd } from '../support/read-log.ts'
import { textChunk, textOf } from '../support/text-chunk.ts'

let server: ConcurrencyServer
beforeAll(async () => {
  server = await ConcurrencyServer.start()
}, 60_000)
afterAll(() => server.stop())

const APPENDERS = 8
const BATCHES = 20

describe.each([
  { name: 'with notifications', options: {} },
  { name: 'by polling', options: { listen: false } },
  { name: 'with a pool of one', options: { max: 1 } },
])('eight appenders and eight readers $name', ({ name, options }) => {
  test('every reader sees the same sequence without a hole', { timeout: 600_000 }, async () => {
    const hosts = server.hosts(8, options)
    for (let round = 0; round < ROUNDS; round += 1) {
      const runId = `${name} ${round}`
      const readers = hosts.map((host) => readToEnd(host.eventLog, runId))
      await Promise.all(
        hosts.slice(0, APPENDERS).map(async (host, appender) => {
          const log = host.eventLog.open({ runId })
          for (let batch = 0; batch < BATCHES; batch += 1) {
            await log.append([0, 1, 2].map((index) => textChunk(`${appender}.${batch}.${index}`)))
          }
        }),
      )
      await hosts[0]!.eventLog.open({ runId }).close()
      const [first, ...others] = await Promise.all(readers)
      expect(first).toHaveLength(APPENDERS * BATCHES * 3)
      expect(new Set(first!.map(({ offset }) => offset)).size).toBe(first!.length)
      for (const seen of others) expect(seen).toEqual(first)
      for (let appender = 0; appender < APPENDERS; appender += 1) {
        const mine = first!.map(textOf).filter((text) => text.startsWith(`${appender}.`))
        const sent = Array.from({ length: BATCHES * 3 }, (_, i) => `${appender}.${Math.floor(i / 3)}.${i % 3}`)
        expect(mine).toEqual(sent)
      }
    }
    await Promise.all(hosts.map((host) => host.close()))
  })
})

test('a pool of one serves appends, claims and checkpoints that come all at once', { timeout: 300_000 }, async () => {
  const warnings: Error[] = []
  const onWarning = (warning: Error): unknown => warnings.push(warning)
  process.on('warning', onWarning)
  onTestFinished(() => void process.off('warning', onWarning))
  for (const max of [1, 2]) {
    const host = server.host({ max })
    const work = Array.from({ length: 50 }, async (_, index) => {
      const key = `pool-${max}-${index}`
      const { epoch } = await host.drivers.claim({ runId: key, threadId: key, owner: 'me', ttlMs: 60_000 })
      await host.eventLog.open({ runId: key, epoch }).append([textChunk('one')])
      const writer = await host.checkpoints.acquireWriter(key)
      await host.checkpoints.append({
        writer,
        expectedHeadId: null,
        checkpoint: {
          id: key,
          threadId: key,
          parentCheckpointId: null,
          createdAt: 1,
          reason: 'automatic',
          files: [],
          conversation: [],
          artifacts: [],
        },
      })
      await host.locks.withLock(`lock-${index % 5}`, () => host.messages.saveThread(key, []))
    })
    await Promise.all(work)
    await host.close()
  }
  expect(warnings).toEqual([])
})
