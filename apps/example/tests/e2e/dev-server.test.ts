import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
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

/** Not in the repository. */
const TOUCHED = join(import.meta.dirname, '..', '..', 'app', 'touched')
const CHANGES = 10

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
  const ticks = Array.from({ length: 12 }, (_, index) => index)
  const text = `$ for i in ${ticks.join(' ')}; do echo tick=$i.; sleep 1; done`
  const viewer = new AbortController()
  await send(server.url, { ...input, text, signal: viewer.signal })
  viewer.abort()
  const sql = postgres(database.url, { max: 1 })
  const connections = async (): Promise<number> => {
    const [row] = await sql`select count(*)::int as n from pg_stat_activity where backend_type = 'client backend'`
    return Number(row?.['n'])
  }
  try {
    await changeRoute(0)
    const before = await connections()
    for (let change = 1; change <= CHANGES; change += 1) await changeRoute(change)
    expect(await connections()).toBeLessThanOrEqual(before + 1)
  } finally {
    await rm(TOUCHED, { recursive: true, force: true })
    await sql.end()
  }
  const output = printed(await allEvents(await joinRun(server.url, input.runId)))
  for (const tick of ticks) expect(occurrences(output, `tick=${tick}.`)).toBe(1)
  await expect.poll(async () => (await latestRun(server.url, input.threadId))?.status).toBe('completed')
})

/** Changes a route that uses the store, and waits until the server has loaded the change. */
async function changeRoute(change: number): Promise<void> {
  await mkdir(TOUCHED, { recursive: true })
  await writeFile(join(TOUCHED, 'route.ts'), routeSource(change))
  const answer = async (): Promise<string> => (await fetch(`${server.url}/touched`)).text()
  await expect.poll(answer, { timeout: 30_000 }).toBe(`change ${change}`)
}

function routeSource(change: number): string {
  return `import { stores } from '../../lib/server/stores.ts'
export const dynamic = 'force-dynamic'
export async function GET() {
  await stores().ping()
  return new Response('change ${change}')
}
`
}
