import { setTimeout as wait } from 'node:timers/promises'
import type { Browser, BrowserContext, Route } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { launchChrome } from '../../tools/chrome.mjs'
import { latestRun, occurrences } from './chat-api.ts'
import type { ExampleServer } from '../../tools/example-server.mjs'
import { ALL_HOSTS, DEFAULT_HOST, startExampleOn } from './sandbox-host.ts'
import { processesWith } from './process-tree.ts'
import { IDLE_STATES, openThread } from './thread-page.ts'

const TICKS = '$ for i in 1 2 3 4 5 6; do echo tick $i; sleep 1; done'

let browser: Browser
let context: BrowserContext

beforeAll(async () => {
  browser = await launchChrome()
})
afterAll(() => browser?.close())
beforeEach(async () => {
  context = await browser.newContext()
})
afterEach(() => context.close())

function expectEveryTickOnce(text: string): void {
  for (const tick of [1, 2, 3, 4, 5, 6]) expect(occurrences(text, `tick ${tick}`), `tick ${tick}`).toBe(1)
  expect(occurrences(text, 'I ran the command.')).toBe(1)
}

describe.each(ALL_HOSTS)('with the embedded store and %s sandboxes', (host) => {
  let server: ExampleServer

  beforeAll(async () => {
    server = await startExampleOn(host)
  })
  afterAll(() => server?.dispose())

  test('the server says whose sandboxes it uses', async () => {
    const health: unknown = await (await fetch(`${server.url}/api/health`)).json()
    expect(health).toMatchObject({ ok: true, provider: { name: host === 'local' ? 'process' : host, ok: true } })
  })

  test('a run is shown once and never as idle over a reload, a closed tab and another tab', async () => {
    const first = await openThread(context, server.url, 't-reload')
    const states = await first.watchStates()
    await first.send(TICKS)
    await first.untilText('tick 2')
    const fromHere = states.length
    await first.page.reload()
    await first.untilState(['running'])
    await first.untilText('tick 3')
    expect(states.slice(fromHere).filter((state) => IDLE_STATES.includes(state))).toEqual([])
    await first.page.close()

    const second = await openThread(context, server.url, 't-reload')
    const later = await second.watchStates()
    await second.untilState(['done'])
    await second.untilText('I ran the command.')
    expect(later.filter((state) => IDLE_STATES.includes(state))).toEqual(['done'])
    expectEveryTickOnce(await second.text())

    await second.send('$ echo next message')
    await second.untilText('I ran the command.')
    await second.untilState(['done'])
    await second.page.reload()
    await second.untilState(['done'])
    const text = await second.text()
    expect(occurrences(text, 'I ran the command.')).toBe(2)
    for (const tick of [1, 2, 3, 4, 5, 6]) expect(occurrences(text, `tick ${tick}`)).toBe(1)
  })

  test('Stop after a reload ends the whole process tree within 2 s, and the record says aborted', async () => {
    const thread = await openThread(context, server.url, 't-stop')
    await thread.send('$ (sleep 61.731 & sleep 61.731 & wait) & setsid sleep 61.731 & echo be""gun; wait; sleep 61.731')
    await thread.untilText('begun')
    await thread.page.reload()
    await thread.untilState(['running'])
    expect(processesWith('61.731').length).toBeGreaterThan(2)

    await thread.page.getByTestId('stop').click()
    const deadline = performance.now() + 2_000
    while (processesWith('61.731').length > 0 && performance.now() < deadline) await wait(25)
    expect(processesWith('61.731')).toEqual([])
    await thread.untilState(['cancelled'])
    await expect.poll(async () => (await latestRun(server.url, 't-stop'))?.status).toBe('aborted')
    await thread.page.reload()
    await thread.untilState(['cancelled'])

    await thread.send('$ echo works again')
    await thread.untilState(['done'])
  })
})

describe('with the embedded store', () => {
  let server: ExampleServer

  beforeAll(async () => {
    server = await startExampleOn()
  })
  afterAll(() => server?.dispose())

  test('a refused message is given back with the reason, and the run that is there is shown', async () => {
    const thread = await openThread(context, server.url, 't-busy')
    const other = await openThread(context, server.url, 't-busy')
    const otherTabFirst = async (route: Route): Promise<void> => {
      await other.send('$ sleep 3; echo from the other tab')
      await other.untilState(['running'])
      await route.continue()
    }
    await thread.page.route('**/api/chat', otherTabFirst, { times: 1 })
    await thread.send('$ echo too late')
    await thread.page.getByTestId('problem').waitFor()
    expect(await thread.page.getByTestId('composer').inputValue()).toBe('$ echo too late')
    await thread.untilText('from the other tab')
    await thread.untilState(['done'])
    expect(await thread.text()).not.toContain('too late')
  })

  test('a run that starts in another tab appears', async () => {
    const watcher = await openThread(context, server.url, 't-tabs')
    const writer = await openThread(context, server.url, 't-tabs')
    await writer.send('$ sleep 4; echo for all tabs')
    await watcher.untilState(['starting', 'running'])
    await watcher.untilText('I ran the command.')
    await watcher.untilState(['done'])
  })

  test('a file that a run writes is listed with its diff and content, and a deleted thread takes it along', async () => {
    const { page, send, untilState } = await openThread(context, server.url, 't-files')
    await page.setViewportSize({ width: 1400, height: 800 })
    await send('$ mkdir -p src && printf "one\\ntwo\\n" > src/list.txt')
    await untilState(['done'])
    await page.getByTestId('file-tree').getByText('list.txt').click()
    await page.getByTestId('file-diff').getByText('+two').waitFor()
    await page.getByRole('button', { name: 'Content' }).click()
    expect(await page.getByTestId('file-content').innerText()).toBe('one\ntwo\n')

    await page.getByTestId('threads').getByText('mkdir').hover()
    await page.getByRole('button', { name: /^Delete thread .*mkdir/ }).click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await expect
      .poll(async () => (await fetch(`${server.url}/api/threads/t-files`)).status, { timeout: 15_000 })
      .toBe(404)
    await expect.poll(() => page.getByTestId('threads').innerText()).not.toContain('mkdir')
  })
})

describe('when making a sandbox takes 5 s', () => {
  let server: ExampleServer

  beforeAll(async () => {
    server = await startExampleOn(DEFAULT_HOST, { createMs: 5_000 })
  })
  afterAll(() => server?.dispose())

  test.each([1_000, 3_000])('a reload %i ms after the send joins the run and shows all of it once', async (afterMs) => {
    const thread = await openThread(context, server.url, `t-early-${afterMs}`)
    const states = await thread.watchStates()
    await thread.send('$ echo tick 1; echo tick 2; echo tick 3; echo tick 4; echo tick 5; echo tick 6')
    await wait(afterMs)
    expect(await thread.state()).toBe('starting')
    const fromHere = states.length
    await thread.page.reload()
    await thread.untilState(['starting'], 2_500)
    await thread.untilState(['done'])
    await thread.untilText('I ran the command.')
    expect(states.slice(fromHere).filter((state) => IDLE_STATES.includes(state))).toEqual(['done'])
    const answer = await thread.page.getByTestId('assistant-text').locator('pre').innerText()
    for (const tick of [1, 2, 3, 4, 5, 6]) expect(occurrences(answer, `tick ${tick}`)).toBe(1)
  })
})
