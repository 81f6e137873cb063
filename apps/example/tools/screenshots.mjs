// Pictures of every page at three widths, light and dark, in apps/example/screenshots.
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { launchChrome } from './chrome.mjs'
import { startExample } from './example-server.mjs'

const OUT = join(import.meta.dirname, '..', 'screenshots')
const WIDTHS = [390, 820, 1440]
const SCHEMES = /** @type {const} */ (['light', 'dark'])

const WRITE_FILES = [
  'Set up a small project, please.',
  '$ mkdir -p src/lib notes && printf "# Notes\\n\\n- first\\n- second\\n" > notes/README.md',
  '$ printf "export const answer = 42\\n" > src/lib/answer.ts && printf "import { answer } from \'./lib/answer\'\\n\\nconsole.log(answer)\\n" > src/main.ts',
  '$ ls -R . && false',
].join('\n')
const CHANGE_FILES =
  '$ printf "export const answer = 43\\nexport const question = null\\n" > src/lib/answer.ts; rm notes/README.md; echo warning: notes removed >&2'
const ASKS = 'Clean up, please.\n$ mkdir -p build/cache && date > build/cache/stamp.txt\n$ rm -rf build\n$ ls -la'
const LONG = '$ for i in 1 2 3 4; do echo "step $i of 9: compiling module $i"; sleep 0.2; done; sleep 600'

/** @typedef {import('playwright-core').Page} Page */

/** @type {{ name: string, path: string, show?: (page: Page) => Promise<void> }[]} */
const PAGES = [
  { name: 'new-thread', path: '/t/fresh' },
  { name: 'thread', path: '/t/project' },
  { name: 'files', path: '/t/project', show: showFile },
  { name: 'checkpoints', path: '/t/project', show: showCheckpoints },
  { name: 'comparison', path: '/t/project', show: showComparison },
  { name: 'running', path: '/t/long', show: (page) => page.getByText('compiling module 1').first().waitFor() },
  { name: 'asking', path: '/t/asks', show: (page) => page.getByTestId('approval').waitFor() },
  { name: 'threads', path: '/t/project', show: showThreads },
  { name: 'runs', path: '/runs', show: (page) => page.getByTestId('runs').waitFor() },
  { name: 'unreachable', path: '/t/project', show: cutOff },
  { name: 'not-found', path: '/nowhere/at/all' },
]

const server = await startExample()
const browser = await launchChrome()
try {
  await rm(OUT, { recursive: true, force: true })
  await mkdir(OUT, { recursive: true })
  await prepare()
  for (const colorScheme of SCHEMES) for (const width of WIDTHS) await takeAll(colorScheme, width)
  console.log(`Pictures are in ${OUT}`)
} finally {
  await browser.close()
  await endRuns()
  await server.dispose()
}

async function prepare() {
  const page = await browser.newPage()
  await page.goto(`${server.url}/t/project`)
  for (const text of [WRITE_FILES, 'What can you do?', CHANGE_FILES]) {
    await send(page, text)
    await page.waitForSelector('[data-testid=status][data-state=done]', { timeout: 60_000 })
  }
  await page.goto(`${server.url}/t/asks`)
  await send(page, ASKS)
  await page.getByTestId('approval').waitFor()
  await page.goto(`${server.url}/t/long`)
  await send(page, LONG)
  await page.getByText('compiling module 1').first().waitFor()
  await page.close()
}

async function endRuns() {
  /** @type {{ runs: { runId: string }[] }} */
  const { runs } = await fetch(`${server.url}/api/runs?status=running`).then((response) => response.json())
  for (const { runId } of runs) await fetch(`${server.url}/api/runs/${runId}/cancel`, { method: 'POST' })
}

/**
 * @param {Page} page
 * @param {string} text
 */
async function send(page, text) {
  await page.getByTestId('composer').fill(text)
  await page.getByTestId('send').click()
  await page.waitForSelector('[data-testid=stop]')
}

/**
 * @param {'light' | 'dark'} colorScheme
 * @param {number} width
 */
async function takeAll(colorScheme, width) {
  const viewport = { width, height: width < 500 ? 844 : 900 }
  const context = await browser.newContext({ viewport, colorScheme })
  for (const { name, path, show } of PAGES) {
    const page = await context.newPage()
    await page.goto(server.url + path)
    await page.waitForLoadState('networkidle', { timeout: 3_000 }).catch(() => undefined)
    await show?.(page)
    await page.waitForTimeout(700)
    await page.screenshot({ path: join(OUT, `${name}-${width}-${colorScheme}.png`) })
    await page.close()
  }
  await context.close()
}

/** @param {Page} page */
async function showFile(page) {
  const toggle = page.getByRole('button', { name: /^Files/ })
  if (await toggle.isVisible()) await toggle.click()
  await page.getByTestId('file-tree').getByText('answer.ts').click()
  await page.getByTestId('file-viewer').locator('pre').waitFor()
}

/** @param {Page} page */
async function showCheckpoints(page) {
  const toggle = page.getByRole('button', { name: 'Checkpoints', exact: true })
  if (await toggle.isVisible()) await toggle.click()
  else await page.getByRole('tab', { name: 'Checkpoints' }).click()
  await page.getByTestId('timeline').getByRole('listitem').first().waitFor()
}

/** @param {Page} page */
async function showComparison(page) {
  await showCheckpoints(page)
  const boxes = page.getByTestId('timeline').getByRole('checkbox')
  await boxes.first().click()
  await boxes.last().click()
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.getByTestId('file-diff').first().waitFor()
}

/** @param {Page} page */
async function showThreads(page) {
  const menu = page.getByRole('button', { name: 'Threads', exact: true })
  if (await menu.isVisible()) await menu.click()
  const item = page.getByTestId('threads').getByRole('listitem').first()
  await item.hover()
  await item.getByRole('button', { name: /^Delete thread/ }).click()
}

/** @param {Page} page */
async function cutOff(page) {
  await page.route('**/api/**', (route) => route.abort())
  await page.reload()
  await page.getByTestId('unreachable').waitFor()
}
