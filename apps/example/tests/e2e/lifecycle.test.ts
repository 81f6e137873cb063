import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { allEvents, events, join, latestRun, occurrences, printed, send } from './chat-api.ts'
import { startExample } from '../../tools/example-server.mjs'
import type { ExampleServer } from '../../tools/example-server.mjs'
import { residentMiB } from './process-tree.ts'
import { startSandboxHost } from './sandbox-host.ts'
import type { SandboxHost } from './sandbox-host.ts'

/** Enough to see growth; `HOLDFAST_RUNS=500` gives the long version. */
const RUNS = Number(process.env['HOLDFAST_RUNS'] ?? 100)

const AT_ONCE = 5

const open: ExampleServer[] = []
let sandboxes: SandboxHost

async function start(options: { dir?: string } = {}): Promise<ExampleServer> {
  const server = await startExample({ ...options, env: sandboxes.env })
  open.push(server)
  return server
}

beforeAll(async () => {
  sandboxes = await startSandboxHost()
})
afterAll(() => sandboxes?.close())
afterEach(async () => {
  for (const server of open.splice(0).toReversed()) await server.dispose()
})

async function startRun(server: ExampleServer, runId: string): Promise<void> {
  const viewer = new AbortController()
  const input = { threadId: `t-${runId}`, runId, text: '$ echo begun; sleep 30' }
  for await (const { chunk } of events(await send(server.url, { ...input, signal: viewer.signal }))) {
    if (chunk['name'] === 'process.stdout') break
  }
  viewer.abort()
}

test('SIGTERM lets the run go, closes the store and exits with 0; the next start has all of it', async () => {
  const first = await start()
  await startRun(first, 'run-term')
  const startedAt = performance.now()
  expect(await first.stop()).toBe(0)
  expect(performance.now() - startedAt).toBeLessThan(10_000)

  const second = await start({ dir: first.dir })
  const record = await latestRun(second.url, 't-run-term')
  expect(record?.runId).toBe('run-term')
  const ended = await allEvents(await join(second.url, 'run-term'))
  expect(occurrences(printed(ended), 'begun')).toBe(1)
  const next = await allEvents(await send(second.url, { threadId: 't-run-term', runId: 'run-next', text: '$ echo on' }))
  expect(printed(next)).toBe('on\n')
})

test(`memory is flat over ${RUNS} runs`, { timeout: 120_000 + RUNS * 2_000 }, async () => {
  const server = await start()
  const samples: number[] = []
  for (let run = 0; run < RUNS; run += AT_ONCE) {
    const runs = Array.from({ length: AT_ONCE }, async (_, offset) => {
      const text = offset === 0 ? '$ echo something; seq 200' : 'Hello'
      const input = { threadId: `t-${(run + offset) % 20}`, runId: `run-${run + offset}`, text }
      await allEvents(await send(server.url, input))
    })
    await Promise.all(runs)
    samples.push(residentMiB(server.pid))
  }
  const part = Math.floor(samples.length / 4)
  const early = median(samples.slice(part, 2 * part))
  const late = median(samples.slice(-part))
  console.log(`resident memory: ${early.toFixed(0)} MiB early, ${late.toFixed(0)} MiB late`)
  expect(late).toBeLessThan(early * 1.25 + 16)
})

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
