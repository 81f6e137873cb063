import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pgbouncer, startPooler } from '../support/busy-pooler.ts'
import { ConcurrencyServer } from '../support/concurrency-server.ts'
import { readToEnd } from '../support/read-log.ts'
import { textChunk, textOf } from '../support/text-chunk.ts'

let server: ConcurrencyServer
beforeAll(async () => {
  server = await ConcurrencyServer.start()
}, 60_000)
afterAll(() => server.stop())

describe('behind a pooler in transaction mode', () => {
  test('logs, claims, locks and cancels work, and nothing is lost', { timeout: 60_000 }, async ({ skip }) => {
    if (pgbouncer === undefined) skip('pgbouncer is not installed: apt-get install pgbouncer')
    const pooler = await startPooler(server.postgres.port)
    const hosts = server.hosts(4, { url: pooler.url, max: 4 })
    const readers = hosts.map((host) => readToEnd(host.eventLog, 'run'))
    const { epoch } = await hosts[0]!.drivers.claim({ runId: 'run', threadId: 'thread', owner: 'a', ttlMs: 60_000 })
    const cancelled = hosts[1]!.drivers.onCancel('run', new AbortController().signal)
    const log = hosts[0]!.eventLog.open({ runId: 'run', epoch })
    let inside = 0
    await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        await log.append([textChunk(`${index}`)])
        await hosts[index % 4]!.locks.withLock('lock', async () => {
          inside += 1
          expect(inside).toBe(1)
          await hosts[index % 4]!.messages.saveThread('thread', [{ role: 'user', content: `${index}` }])
          inside -= 1
        })
      }),
    )
    await hosts[2]!.drivers.requestCancel({ runId: 'run' })
    expect(await cancelled).toEqual({ runId: 'run', keepSandbox: false })
    await log.close()
    const sent = Array.from({ length: 40 }, (_, index) => `${index}`)
    for (const seen of await Promise.all(readers)) expect(seen.map(textOf).toSorted((a, b) => +a - +b)).toEqual(sent)
    await Promise.all(hosts.map((host) => host.close()))
    await pooler.stop()
  })
})
