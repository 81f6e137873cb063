import type { Browser, BrowserContext, Page, Route } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { launchChrome } from '../../tools/chrome.mjs'
import { startExample } from '../../tools/example-server.mjs'
import type { ExampleServer } from '../../tools/example-server.mjs'
import { latestRun, occurrences } from './chat-api.ts'
import { openThread } from './thread-page.ts'
import type { ThreadPage } from './thread-page.ts'

/** Each run of the second line leaves a mark, so that it can be counted. */
const ASKS = [
  '$ mkdir -p old && echo kept > kept.txt',
  '$ echo once >> runs.txt; rm -rf old',
  '$ echo "old is $(ls -d old 2>/dev/null || echo gone), $(cat runs.txt 2>/dev/null | wc -l) runs"',
].join('\n')

let browser: Browser
let server: ExampleServer
let context: BrowserContext

beforeAll(async () => {
  ;[browser, server] = await Promise.all([launchChrome(), startExample()])
})
afterAll(() => Promise.all([browser?.close(), server?.dispose()]))
beforeEach(async () => {
  context = await browser.newContext()
})
afterEach(() => context.close())

async function openAsked(threadId: string): Promise<ThreadPage> {
  const thread = await openThread(context, server.url, threadId)
  await thread.send(ASKS)
  await thread.untilState(['waiting'])
  await question(thread.page).waitFor()
  return thread
}

const question = (page: Page): ReturnType<Page['getByTestId']> => page.getByTestId('approval')
const answer = (page: Page, name: 'Approve' | 'Deny'): Promise<void> => page.getByRole('button', { name }).click()

test('a question stays over a reload, and its approval runs the command once, seen in both tabs', async () => {
  const first = await openAsked('t-approve')
  const asked = await question(first.page).innerText()
  for (const part of ['Run this command?', 'rm -rf old', 'rm -r*']) expect(asked).toContain(part)
  expect(await first.page.getByTestId('composer').getAttribute('placeholder')).toBe('Approve or deny first')
  await first.page.reload()
  await question(first.page).waitFor()
  expect(await first.state()).toBe('waiting')

  const second = await openThread(context, server.url, 't-approve')
  await question(second.page).waitFor()
  await second.page.keyboard.press('Tab')
  await second.page.keyboard.press('Tab')
  await second.page.keyboard.press('Enter')
  for (const tab of [first, second]) {
    await question(tab.page).waitFor({ state: 'detached' })
    await tab.untilText('I ran 3 commands.')
    await tab.untilState(['done'])
    const text = await tab.text()
    expect(occurrences(text, 'I ran 3 commands.')).toBe(1)
    expect(occurrences(text, 'old is gone, 1 runs')).toBeGreaterThan(0)
    expect(await tab.page.getByTestId('tool-card').count()).toBe(3)
  }
  await first.send('$ echo next message')
  await first.untilText('I ran the command.')
})

test('a denied command is not run, and the model is told and goes on', async () => {
  const thread = await openAsked('t-deny')
  await answer(thread.page, 'Deny')
  await thread.untilText('I ran 2 commands; you denied one command.')
  await thread.untilState(['done'])
  expect(await thread.text()).toContain('old is old, 0 runs')
  await thread.page.getByText('not approved').waitFor()
  await thread.page.reload()
  await thread.untilState(['done'])
  await thread.page.getByText('not approved').waitFor()
  expect(await question(thread.page).count()).toBe(0)
})

test('Stop ends a run that waits, in both tabs, and the next message works', async () => {
  const thread = await openAsked('t-stop-waiting')
  const other = await openThread(context, server.url, 't-stop-waiting')
  await question(other.page).waitFor()
  await thread.page.getByTestId('stop').click()
  for (const tab of [thread, other]) {
    await tab.untilState(['cancelled'])
    await question(tab.page).waitFor({ state: 'detached' })
  }
  expect((await latestRun(server.url, 't-stop-waiting'))?.status).toBe('aborted')
  await other.send('$ ls -d old')
  await other.untilText('I ran the command.')
  await other.untilState(['done'])
})

test('an answer that is not taken says so and can be given again, and a late one shows how it went on', async () => {
  const thread = await openAsked('t-late')
  const { page } = thread
  await page.route('**/api/chat', (route: Route) => route.abort(), { times: 1 })
  await answer(page, 'Approve')
  await page.getByTestId('problem').getByText('cannot be reached').waitFor()
  expect(await thread.state()).toBe('waiting')

  const other = await openThread(context, server.url, 't-late')
  await question(other.page).waitFor()
  const otherTabFirst = async (route: Route): Promise<void> => {
    await answer(other.page, 'Deny')
    await other.untilState(['done'])
    await route.continue()
  }
  await page.route('**/api/chat', otherTabFirst, { times: 1 })
  await answer(page, 'Approve')
  await page.getByRole('button', { name: 'Approve', disabled: true }).waitFor()
  await page.getByTestId('problem').getByText('decided already').waitFor()
  await thread.untilState(['done'])
  expect(await thread.text()).toContain('old is old, 0 runs')
})
