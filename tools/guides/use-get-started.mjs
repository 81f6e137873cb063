// What the guide promises, in a browser: a reload in the middle of an answer and a restart of the server lose nothing.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { launchChrome } from '../../apps/example/tools/chrome.mjs'
import { startServer } from '../install/started-server.mjs'
import { startFakeOpenAi } from './fake-openai.mjs'

/** @typedef {import('playwright-core').Page} Page */

const QUESTION = 'Make a file'
const ANSWER = 'All done.'
/** Long enough that the reload comes in the middle of it. */
const COMMAND = 'echo made in the sandbox > made.txt; sleep 5'

export async function useGetStarted(/** @type {string} */ app, /** @type {NodeJS.ProcessEnv} */ env) {
  const model = await startFakeOpenAi({ command: COMMAND, answer: ANSWER })
  const args = (/** @type {number} */ port) => [
    join(app, 'node_modules', 'next', 'dist', 'bin', 'next'),
    'start',
    '--port',
    String(port),
    '--hostname',
    '127.0.0.1',
  ]
  const start = () =>
    startServer(args, { cwd: app, env: { ...env, OPENAI_API_KEY: 'none', OPENAI_BASE_URL: model.url } })
  const browser = await launchChrome()
  let server = await start()
  try {
    const page = await browser.newPage()
    await reloadInTheMiddle(page, server.url)
    await lookAtWorkspace(server.url)
    await server.stop()
    server = await start()
    await page.goto(server.url)
    await isShownOnce(page)
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.stack : String(error)}\nThe server said:\n${server.log()}`)
  } finally {
    await server.stop()
    await browser.close()
    model.close()
  }
}

async function reloadInTheMiddle(/** @type {Page} */ page, /** @type {string} */ url) {
  await page.goto(url)
  await page.waitForLoadState('networkidle')
  await page.getByLabel('Message').fill(QUESTION)
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('[tool-call]').waitFor()
  await page.reload()
  await page.getByRole('button', { name: 'Stop' }).waitFor()
  assert.equal(await page.getByText(ANSWER).count(), 0, 'the page was reloaded before the answer was there')
  await isShownOnce(page)
}

async function isShownOnce(/** @type {Page} */ page) {
  await page.getByText(ANSWER).waitFor()
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
  const text = await page.locator('main').innerText()
  for (const part of [QUESTION, ANSWER, '[tool-call]'])
    assert.equal(text.split(part).length, 2, `${part} once: ${text}`)
}

async function lookAtWorkspace(/** @type {string} */ url) {
  const file = await (await fetch(`${url}/api/threads/first/files/content?path=made.txt`)).text()
  assert.ok(file.includes('made in the sandbox'), file)
  const at = `${url}/api/threads/first/checkpoints`
  const { checkpoints } = /** @type {{ checkpoints: { id: string }[] }} */ (await (await fetch(at)).json())
  assert.equal(checkpoints.length, 1, 'the answer left a checkpoint')
  const rewound = await fetch(`${at}/${checkpoints[0]?.id}/rewind`, { method: 'POST' })
  assert.ok(rewound.ok, `one can go back to it: ${rewound.status} ${await rewound.text()}`)
}
