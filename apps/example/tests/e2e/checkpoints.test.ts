import { readFile } from 'node:fs/promises'
import type { Browser, BrowserContext, Locator } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { launchChrome } from '../../tools/chrome.mjs'
import type { ExampleServer } from '../../tools/example-server.mjs'
import { allEvents, send } from './chat-api.ts'
import { startExampleOn } from './sandbox-host.ts'
import { openThread } from './thread-page.ts'
import type { ThreadPage } from './thread-page.ts'

const THREAD = 't-history'
/** A rewind stops and starts the sandbox. */
const PATIENCE = { timeout: 15_000 }

let browser: Browser
let server: ExampleServer
let context: BrowserContext

/** Two runs write the same file in the thread that all tests go on from; the last one takes it back. */
beforeAll(async () => {
  ;[browser, server] = await Promise.all([launchChrome(), startExampleOn()])
  for (const word of ['first', 'second']) {
    const text = `$ echo ${word}-text > note.txt`
    await allEvents(await send(server.url, { threadId: THREAD, runId: `run-${word}`, text }))
  }
})
afterAll(() => Promise.all([browser?.close(), server?.dispose()]))
beforeEach(async () => {
  context = await browser.newContext({ viewport: { width: 1400, height: 900 } })
})
afterEach(() => context.close())

async function openTimeline(): Promise<ThreadPage> {
  const thread = await openThread(context, server.url, THREAD)
  await thread.untilText('second-text')
  await thread.page.getByRole('tab', { name: 'Checkpoints' }).click()
  await items(thread).first().waitFor()
  return thread
}

/** Newest first. */
function items({ page }: ThreadPage): Locator {
  return page.getByTestId('timeline').getByRole('listitem')
}

async function rewindTo(item: Locator): Promise<void> {
  await item.getByRole('button', { name: /^Rewind to/ }).click()
  await item.getByRole('button', { name: 'Rewind now' }).click()
}

test('two checkpoints are compared by file and conversation, with the keyboard alone', async () => {
  const thread = await openTimeline()
  const { page } = thread
  expect(await items(thread).count()).toBe(2)
  expect(await items(thread).first().innerText()).toContain('Head')
  expect(await items(thread).last().innerText()).toMatch(/1 file changed/)
  const compare = page.getByRole('button', { name: 'Compare' })
  expect(await compare.isDisabled()).toBe(true)
  await page.getByRole('tab', { name: 'Checkpoints' }).focus()
  for (const box of await page.getByRole('checkbox').all()) {
    await box.focus()
    await page.keyboard.press('Space')
  }
  await compare.focus()
  await page.keyboard.press('Enter')
  const comparison = page.getByTestId('comparison')
  await comparison.getByText('-first-text').waitFor()
  await comparison.getByText('+second-text').waitFor()
  expect(await page.getByTestId('conversation-changes').innerText()).toMatch(/[1-9]\d* messages added, 0 messages rem/)
  await page.keyboard.press('Enter')
  await compare.waitFor()
})

test('a fork opens a new thread with the conversation and files of its checkpoint', async () => {
  const thread = await openTimeline()
  const { page } = thread
  await items(thread).last().getByRole('button', { name: /^Fork/ }).click()
  await page.waitForURL((url) => !url.pathname.endsWith(THREAD))
  await thread.untilText('first-text')
  expect(await thread.text()).not.toContain('second-text')
  await thread.send('$ echo forked:$(cat note.txt)')
  await thread.untilText('forked:first-text')
  await thread.untilState(['done'])
  await page.goto(`${server.url}/t/${THREAD}`)
  await thread.untilText('second-text')
})

test('a checkpoint saved by hand carries its label, and a published file is downloaded under its name', async () => {
  const thread = await openTimeline()
  const { page } = thread
  await page.getByRole('textbox', { name: 'Label of the checkpoint' }).fill('before the rewrite')
  await page.getByRole('button', { name: 'Save' }).click()
  await items(thread).getByText('Saved by hand: before the rewrite').waitFor()

  await thread.send('$ publish note.txt')
  await thread.untilText('published as note.txt')
  await thread.untilState(['done'])
  const link = page.getByTestId('artifacts').getByRole('link', { name: 'note.txt' })
  const [download] = await Promise.all([page.waitForEvent('download'), link.click()])
  expect(download.suggestedFilename()).toBe('note.txt')
  expect(await readFile(await download.path(), 'utf8')).toBe('second-text\n')
  await items(thread).nth(1).getByText('before the rewrite').waitFor()
})

test('a rewind while a run is active is refused with the reason of the server', async () => {
  const thread = await openTimeline()
  await thread.send('$ echo be""gun; sleep 30')
  await thread.untilText('begun')
  const count = await items(thread).count()
  await rewindTo(items(thread).last())
  await thread.page.getByTestId('checkpoint-problem').getByText(/run/).waitFor()
  expect(await items(thread).count()).toBe(count)
  await thread.page.getByTestId('stop').click()
  await thread.untilState(['cancelled'])
})

test('a rewind brings file and conversation back and becomes the newest checkpoint', async () => {
  const thread = await openTimeline()
  const { page } = thread
  const count = await items(thread).count()
  await rewindTo(items(thread).last())
  // The run that was stopped left no checkpoint, so its state is saved before it is left.
  await expect.poll(() => items(thread).count(), PATIENCE).toBe(count + 2)
  expect(await items(thread).first().innerText()).toMatch(/^Rewind\s+Head/)
  expect(await items(thread).nth(1).innerText()).toContain('before a rewind')
  await expect.poll(() => thread.text(), PATIENCE).not.toContain('second-text')
  await thread.untilText('first-text')
  await page.getByRole('tab', { name: 'Files' }).click()
  await page.getByTestId('file-tree').getByText('note.txt').click()
  await expect.poll(() => page.getByTestId('file-content').innerText(), PATIENCE).toBe('first-text\n')

  await page.reload()
  await thread.untilText('first-text')
  await thread.untilState(['done', 'ready'])
  expect(await thread.text()).not.toContain('second-text')
  await thread.send('$ cat note.txt && echo now:$(cat note.txt)')
  await thread.untilText('now:first-text')
})
