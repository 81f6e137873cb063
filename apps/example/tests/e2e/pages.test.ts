import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launchChrome } from '../../tools/chrome.mjs'
import { startExample } from '../../tools/example-server.mjs'
import type { ExampleServer } from '../../tools/example-server.mjs'
import { allEvents, send } from './chat-api.ts'

const MAX_FIRST_SCRIPT_BYTES = 250 * 1024

let browser: Browser
let server: ExampleServer
let axe: string

beforeAll(async () => {
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  ;[browser, server] = await Promise.all([launchChrome(), startExample()])
  const text = `$ mkdir -p a/b && seq 40 > a/b/${'long-name-'.repeat(8)}.txt\n$ echo ${'wide '.repeat(60)}; exit 2`
  await allEvents(await send(server.url, { threadId: 't-page', runId: 'run-page', text }))
  await allEvents(await send(server.url, { threadId: 't-asks', runId: 'run-asks', text: '$ rm -rf old' }))
})
afterAll(() => Promise.all([browser?.close(), server?.dispose()]))

const PAGES: [name: string, path: string, show?: (page: Page) => Promise<void>][] = [
  ['a new thread', '/t/t-new'],
  ['a thread', '/t/t-page', (page) => page.getByText('exit code 2').waitFor()],
  ['a question', '/t/t-asks', (page) => page.getByTestId('approval').waitFor()],
  ['files and a diff', '/t/t-page', showDiff],
  ['checkpoints', '/t/t-page', showCheckpoints],
  ['the list of threads', '/t/t-page', showDelete],
  ['the runs', '/runs', (page) => page.getByTestId('runs').waitFor()],
  ['no such page', '/nowhere'],
]

describe.each([
  ['light', 1440],
  ['dark', 390],
] as const)('%s, %i px wide', (colorScheme, width) => {
  test.each(PAGES)('%s has no serious accessibility fault and no sideways scrolling', async (_, path, show) => {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 844 } })
    const page = await context.newPage()
    await page.goto(server.url + path)
    await show?.(page)
    await page.evaluate(axe)
    const { violations } = await page.evaluate(() =>
      (Reflect.get(window, 'axe') as { run: () => Promise<AxeResults> }).run(),
    )
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    expect(serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
    await context.close()
  })
})

test('diffs of the last run are shown after a reload', async () => {
  const page = await browser.newPage({ viewport: { width: 1440, height: 844 } })
  await page.goto(`${server.url}/t/t-page`)
  await showDiff(page)
  await page.close()
})

test('the first load ships at most 250 KB of compressed script', async () => {
  const context = await browser.newContext()
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await session.send('Network.enable')
  const scripts = new Set<string>()
  let bytes = 0
  session.on('Network.responseReceived', ({ requestId, type }) => type === 'Script' && scripts.add(requestId))
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (scripts.has(requestId)) bytes += encodedDataLength
  })
  await page.goto(`${server.url}/t/t-new`)
  await page.getByTestId('empty').waitFor()
  await page.waitForLoadState('networkidle')
  console.log(`script of the first load: ${(bytes / 1024).toFixed(0)} KiB`)
  expect(bytes).toBeGreaterThan(0)
  expect(bytes).toBeLessThanOrEqual(MAX_FIRST_SCRIPT_BYTES)
  await context.close()
})

async function showDiff(page: Page): Promise<void> {
  const toggle = page.getByRole('button', { name: /^Files/ })
  await page.getByText('exit code 2').waitFor()
  if (await toggle.isVisible()) await toggle.click()
  await page
    .getByTestId('file-tree')
    .getByText(/long-name/)
    .click()
  await page.getByTestId('file-diff').waitFor()
}

async function showCheckpoints(page: Page): Promise<void> {
  const toggle = page.getByRole('button', { name: 'Checkpoints', exact: true })
  await page.getByText('exit code 2').waitFor()
  if (await toggle.isVisible()) await toggle.click()
  else await page.getByRole('tab', { name: 'Checkpoints' }).click()
  await page.getByRole('button', { name: /^Rewind to/ }).click()
  await page.getByRole('button', { name: 'Rewind now' }).waitFor()
}

async function showDelete(page: Page): Promise<void> {
  const menu = page.getByRole('button', { name: 'Threads', exact: true })
  if (await menu.isVisible()) await menu.click()
  const item = page.getByTestId('threads').getByRole('listitem').first()
  await item.hover()
  await item.getByRole('button', { name: /^Delete thread/ }).click()
  await page.getByRole('button', { name: 'Keep' }).waitFor()
}
