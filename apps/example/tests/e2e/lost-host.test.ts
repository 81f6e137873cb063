import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join as joinPath } from 'node:path'
import { startPostgres } from '@holdfast/testing'
import type { TestPostgres } from '@holdfast/testing'
import type { Browser, BrowserContext } from 'playwright-core'
import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { launchChrome } from '../../tools/chrome.mjs'
import { startExample } from '../../tools/example-server.mjs'
import type { ExampleServer } from '../../tools/example-server.mjs'
import { latestRun, occurrences } from './chat-api.ts'
import { openFrontDoor } from './front-door.ts'
import type { FrontDoor } from './front-door.ts'
import { IDLE_STATES, openThread, threadPage } from './thread-page.ts'
import type { ThreadPage } from './thread-page.ts'

/** More than a few seconds of the demo model's speech, which gives at most 4,000 characters of each command. */
const LINES = Array.from({ length: 1_200 }, (_, index) => `line-${String(index + 1).padStart(4, '0')}`)
const COMMANDS = [1, 301, 601, 901].map(
  (from) => `for i in $(seq ${from} ${from + 299}); do printf 'line-%04d\\n' $i; done`,
)

/** What the scripted agent says between its tool calls. */
const SAID = [
  `I am a program in your sandbox. The server only reads what I print, so I go on when it dies, and the next server reads
  all of it again. I write your request down first.`,
  'Now I read the notes back, line by line, and count what is there.',
  'That is everything: your request is line 1 of notes.md, and each word of this was said once.',
]

let database: TestPostgres
let browser: Browser
let dir: string
let doomed: ExampleServer
let survivor: ExampleServer
let frontDoor: FrontDoor
let context: BrowserContext

beforeAll(async () => {
  ;[database, browser] = await Promise.all([startPostgres(), launchChrome()])
})
afterAll(async () => {
  await Promise.all([browser?.close(), database?.stop()])
})
beforeEach(async () => {
  dir = await mkdtemp(joinPath(tmpdir(), 'holdfast-hosts-'))
  const env = { DATABASE_URL: database.url }
  ;[doomed, survivor] = await Promise.all([startExample({ env, dir }), startExample({ env, dir })])
  frontDoor = await openFrontDoor(doomed.url)
  context = await browser.newContext()
})
afterEach(async () => {
  await context?.close()
  await frontDoor?.close()
  await Promise.all([doomed?.dispose(), survivor?.dispose()])
  await rm(dir, { recursive: true, force: true })
})

test('the host of a model dies in the middle of a sentence: both browsers show the answer once', async () => {
  const gate = joinPath(dir, 'gate')
  const commands = [`until [ -e ${gate} ]; do sleep 0.1; done`, ...COMMANDS]
  const pages = await sendAndWatch('t-model', commands.map((command) => `$ ${command}`).join('\n'))
  await writeFile(gate, '')
  await killAt('line-0040', pages)
  await letLeasePass(pages)

  for (const { page, untilState } of pages.all) {
    await untilState(['done'], 60_000)
    const answer = page.getByTestId('assistant-text')
    expect(await answer.count()).toBe(1)
    const text = await answer.innerText()
    expect(words(text).filter((word) => word.startsWith('line-'))).toEqual(LINES)
    expect(occurrences(text, 'I ran 5 commands.')).toBe(1)
    expect(await page.getByTestId('tool-card').count()).toBe(5)
    expect(await page.getByTestId('message-user').count()).toBe(1)
  }
  expect(pages.idleStates()).toEqual([['done'], ['done']])
  await expectNextMessageWorks(pages)
})

test('the host of an agent dies in the middle of a sentence: both browsers show each word once', async () => {
  const pages = await sendAndWatch('t-agent', '/agent remember the milk')
  await killAt('read the notes', pages)
  await letLeasePass(pages)

  for (const { page, untilState } of pages.all) {
    await untilState(['done'], 60_000)
    const texts = await page.getByTestId('assistant-text').allInnerTexts()
    expect(texts.map(words)).toEqual(SAID.map(words))
    expect(await page.getByTestId('tool-card').count()).toBe(3)
    expect(await page.getByTestId('message-user').count()).toBe(1)
  }
  expect(pages.idleStates()).toEqual([['done'], ['done']])
  await expectNextMessageWorks(pages)
})

test('a page whose server dies before all of its code is there shows the answer as it was written', async () => {
  const page = await context.newPage()
  const html = await (await fetch(`${survivor.url}/t/t-plain`)).text()
  let refused = 0
  await page.route('**/_next/static/chunks/*.js', (route) => {
    const name = new URL(route.request().url()).pathname.split('/').at(-1) ?? ''
    if (html.includes(name)) return route.continue()
    // What the page loads by itself later on.
    refused += 1
    return route.abort()
  })
  const thread = threadPage(page)
  await page.goto(`${survivor.url}/t/t-plain`)
  await thread.send('$ echo **bold**')
  await thread.untilState(['done'])
  expect(await page.getByTestId('assistant-text').innerText()).toContain('```text\n**bold**\n```')
  expect(refused).toBeGreaterThan(0)
})

interface Pages {
  threadId: string
  /** Reaches the servers through the front door. */
  moving: ThreadPage
  /** Is on the server that lives. */
  staying: ThreadPage
  all: readonly ThreadPage[]
  /** The states of each page that say that nothing goes on. */
  idleStates: () => string[][]
}

/** A run on the server that will die, shown by a page of each. */
async function sendAndWatch(threadId: string, message: string): Promise<Pages> {
  const moving = await openThread(context, frontDoor.url, threadId)
  await moving.send(message)
  await moving.untilState(['running'])
  const staying = await openThread(context, survivor.url, threadId)
  await staying.untilState(['running'])
  const all = [moving, staying]
  const states = await Promise.all(all.map((page) => page.watchStates()))
  const idleStates = (): string[][] => states.map((seen) => seen.filter((state) => IDLE_STATES.includes(state)))
  return { threadId, moving, staying, all, idleStates }
}

/** Kills the driving server as soon as both pages show this text, while more of it comes. */
async function killAt(said: string, { threadId, all }: Pages): Promise<void> {
  await Promise.all(all.map(({ page }) => page.getByTestId('assistant-text').getByText(said).waitFor()))
  await doomed.kill9()
  const record = await latestRun(survivor.url, threadId)
  expect(record?.status, 'killed before the end').toBe('running')
}

/** The thirty seconds that a lease lasts are not waited for. */
async function letLeasePass({ threadId, moving }: Pages): Promise<void> {
  await moving.untilState(['reconnecting'])
  const sql = postgres(database.url, { max: 1 })
  const passed = await sql`update holdfast.runs set lease_expires_at = 0 where thread_id = ${threadId} returning run_id`
  await sql.end()
  expect(passed).toHaveLength(1)
  frontDoor.leadTo(survivor.url)
}

async function expectNextMessageWorks({ moving, staying }: Pages): Promise<void> {
  await staying.send('$ echo as good as new')
  await staying.untilState(['running'])
  await staying.untilState(['done'])
  const last = staying.page.getByTestId('assistant-text').last()
  await last.getByText('I ran the command.').waitFor()
  const shown = words(await staying.text())
  await moving.page.reload()
  await moving.untilState(['done'])
  // What is stored has the order in which it was said and done.
  await expect.poll(async () => words(await moving.text())).toEqual(shown)
}

function words(text: string): string[] {
  return text.trim().split(/\s+/)
}
