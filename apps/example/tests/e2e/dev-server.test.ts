import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import postgres from 'postgres'
import type { Browser } from 'playwright-core'
import { startPostgres } from '@holdfast/testing'
import type { TestPostgres } from '@holdfast/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchChrome } from '../../tools/chrome.mjs'
import { allEvents, join as joinRun, latestRun, occurrences, printed, send } from './chat-api.ts'
import { startExample } from '../../tools/example-server.mjs'
import type { ExampleServer } from '../../tools/example-server.mjs'
import { openThread } from './thread-page.ts'

const SOURCE = join(import.meta.dirname, '..', '..', 'lib', 'server', 'routes.ts')

let browser: Browser
let database: TestPostgres
let server: ExampleServer

beforeAll(async () => {
  ;[browser, database] = await Promise.all([launchChrome(), startPostgres()])
  server = await startExample({ isDev: true, env: { DATABASE_URL: database.url } })
})
afterAll(async () => {
  await Promise.all([browser?.close(), server?.dispose()])
  await database?.stop()
})

test('in StrictMode a message is sent once and its run joined once, and text stands there once', async () => {
  const context = await browser.newContext()
  const thread = await openThread(context, server.url, 't-strict')
  const requests: string[] = []
  thread.page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url())
    if (pathname === '/api/chat') requests.push(searchParams.has('runId') ? 'JOIN' : request.method())
  })
  await thread.page.waitForLoadState('networkidle')
  await thread.send('$ sleep 4; echo said once')
  await thread.untilState(['running'])
  expect(requests.filter((request) => request !== 'GET')).toEqual(['POST'])
  requests.length = 0
  await thread.page.reload()
  await thread.untilState(['done'])
  await thread.untilText('I ran the command.')
  expect(requests.filter((request) => request !== 'GET')).toEqual(['JOIN'])
  const answer = await thread.page.getByTestId('assistant-text').locator('pre').innerText()
  expect(occurrences(answer, 'said once')).toBe(1)
  await context.close()
})

test('sources that change during a run leave it joinable and open no more connections', async () => {
  const input = { threadId: 't-touched', runId: 'run-touched' }
  const ticks = Array.from({ length: 10 }, (_, index) => index)
  const viewer = new AbortController()
  await send(server.url, {
    ...input,
    text: `$ for i in ${ticks.join(' ')}; do echo tick=$i.; sleep 0.6; done`,
    signal: viewer.signal,
  })
  const sql = postgres(database.url, { max: 1 })
  const connections = async (): Promise<number> => {
    const [row] = await sql`select count(*)::int as n from pg_stat_activity where backend_type = 'client backend'`
    return Number(row?.['n'])
  }
  const before = await connections()
  viewer.abort()
  const source = await readFile(SOURCE, 'utf8')
  for (let touch = 0; touch < 20; touch += 1) {
    await writeFile(SOURCE, source)
    await fetch(`${server.url}/api/runs`)
    await wait(100)
  }
  const output = printed(await allEvents(await joinRun(server.url, input.runId)))
  for (const tick of ticks) expect(occurrences(output, `tick=${tick}.`)).toBe(1)
  await expect.poll(async () => (await latestRun(server.url, input.threadId))?.status).toBe('completed')
  expect(await connections()).toBeLessThanOrEqual(Math.max(before, 12))
  await sql.end()
})
