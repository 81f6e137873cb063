import { setTimeout as wait } from 'node:timers/promises'
import { startPostgres } from '@holdfast/testing'
import type { TestPostgres } from '@holdfast/testing'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  allEvents,
  approve,
  cancel,
  events,
  hydrate,
  join,
  latestRun,
  occurrences,
  printed,
  said,
  send,
} from './chat-api.ts'
import { startExample } from '../../tools/example-server.mjs'
import type { ExampleServer } from '../../tools/example-server.mjs'
import { processesWith } from './process-tree.ts'
import { startSandboxHost } from './sandbox-host.ts'
import type { SandboxHost } from './sandbox-host.ts'

const IDLE_MS = 25_000

let database: TestPostgres
let sandboxes: SandboxHost
let first: ExampleServer
let second: ExampleServer

beforeAll(async () => {
  ;[database, sandboxes] = await Promise.all([
    startPostgres({ settings: { log_statement: 'all' } }),
    startSandboxHost(),
  ])
  const env = { ...sandboxes.env, DATABASE_URL: database.url }
  ;[first, second] = await Promise.all([startExample({ env }), startExample({ env })])
})
afterAll(async () => {
  await Promise.all([first?.dispose(), second?.dispose()])
  await Promise.all([sandboxes?.close(), database?.stop()])
})

test('a run that was started on one server is watched live on the other', async () => {
  const text = '$ for i in 1 2 3 4 5; do echo tick $i; sleep 0.4; done'
  const sent = await send(first.url, { threadId: 't-watched', runId: 'run-watched', text })
  const there = allEvents(sent)
  const here: number[] = []
  const watched = []
  for await (const event of events(await join(second.url, 'run-watched'))) {
    watched.push(event)
    if (event.chunk['name'] === 'process.stdout') here.push(event.at)
  }
  for (const tick of [1, 2, 3, 4, 5]) expect(occurrences(printed(watched), `tick ${tick}`)).toBe(1)
  expect(watched.map(({ id }) => id)).toEqual((await there).map(({ id }) => id))
  expect((here.at(-1) ?? 0) - (here[0] ?? 0), 'live, not in one lump').toBeGreaterThan(1_000)
  const thread = (await (await fetch(`${second.url}/api/chat?threadId=t-watched`)).json()) as { activeRun: unknown }
  expect(thread).toMatchObject({ activeRun: null })
})

test('a run that was started on one server is cancelled from the other within 2 s', async () => {
  const sent = await send(first.url, { threadId: 't-far', runId: 'run-far', text: '$ echo begun; sleep 72.913' })
  let cancelledAt = 0
  for await (const { chunk } of events(sent)) {
    if (chunk['name'] !== 'process.stdout') continue
    expect(processesWith('72.913').length).toBeGreaterThan(0)
    expect((await cancel(second.url, 'run-far')).status).toBe(202)
    cancelledAt = performance.now()
    while (processesWith('72.913').length > 0 && performance.now() - cancelledAt < 2_000) await wait(25)
    expect(processesWith('72.913')).toEqual([])
  }
  await expect.poll(async () => (await latestRun(second.url, 't-far'))?.status).toBe('aborted')
  const busy = await send(second.url, { threadId: 't-far', runId: 'run-far-2', text: 'hello' })
  expect((await allEvents(busy)).at(-1)?.chunk.type).toBe('RUN_FINISHED')
})

test('what a run on one server asks is answered on the other, where it goes on', async () => {
  const text = '$ rm -rf old; echo ran'
  const asked = await allEvents(await send(first.url, { threadId: 't-asks', runId: 'run-asks', text }))
  expect(asked.at(-1)?.chunk).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'interrupt' } })
  const answered = await allEvents(await approve(second.url, { threadId: 't-asks', runId: 'run-goes-on' }))
  expect(occurrences(printed(answered), 'ran')).toBe(1)
  expect(said(answered)).toContain('exit code 0')
  expect(await hydrate(first.url, 't-asks')).toMatchObject({ interrupts: null, activeRun: null })
})

test('an idle server looks at the store no more often than once in 10 s', { timeout: 60_000 }, async () => {
  // What the runs before leave behind, such as a listener that lingers, has its time to end.
  await wait(5_000)
  const sql = postgres(database.url, { max: 1 })
  await sql`select 'idle from here'`
  await wait(IDLE_MS)
  await sql`select 'idle until here'`
  await sql.end()
  const [, idle = ''] = database.log.split(/.*idle from here.*/)
  expect(idle).toContain('idle until here')
  const [during = ''] = idle.split(/.*idle until here.*/)
  const statements = during.split('\n').filter((line) => /LOG: {2}(statement|execute)/.test(line))
  const servers = 2
  // One look, as the reaper's, may be several statements.
  const looks = new Set(statements.map((line) => /\d\d:\d\d:\d\d/.exec(line)?.[0]))
  expect(looks.size, statements.join('\n')).toBeLessThanOrEqual(servers * Math.ceil(IDLE_MS / 10_000))
})
