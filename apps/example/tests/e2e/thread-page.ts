import type { BrowserContext, Page } from 'playwright-core'

export interface ThreadPage {
  readonly page: Page
  send: (text: string) => Promise<void>
  /** The conversation as a reader sees it. */
  text: () => Promise<string>
  state: () => Promise<string>
  untilState: (states: readonly string[], timeoutMs?: number) => Promise<void>
  untilText: (part: string, timeoutMs?: number) => Promise<void>
  /** Every state that the page showed, in order, from this call on and over reloads. */
  watchStates: () => Promise<string[]>
}

/** A development server compiles a page when it is asked for. */
const NAVIGATION_TIMEOUT_MS = 90_000

/** States that say that nothing goes on. */
export const IDLE_STATES = ['ready', 'done', 'failed', 'cancelled', 'waiting', 'unreachable']

export async function openThread(context: BrowserContext, url: string, threadId: string): Promise<ThreadPage> {
  const page = await context.newPage()
  const thread = threadPage(page)
  await page.goto(`${url}/t/${threadId}`, { timeout: NAVIGATION_TIMEOUT_MS })
  await page.getByTestId('composer').waitFor()
  return thread
}

export function threadPage(page: Page): ThreadPage {
  const status = page.getByTestId('status')
  return {
    page,
    async send(text) {
      await page.getByTestId('composer').fill(text)
      await page.getByTestId('send').click()
    },
    text: () => page.getByTestId('messages').innerText(),
    state: async () => (await status.getAttribute('data-state')) ?? '',
    async untilState(states, timeoutMs = 30_000) {
      const selector = states.map((state) => `[data-testid=status][data-state=${state}]`).join(',')
      await page.waitForSelector(selector, { timeout: timeoutMs })
    },
    async untilText(part, timeoutMs = 30_000) {
      await page.getByTestId('messages').getByText(part).first().waitFor({ timeout: timeoutMs })
    },
    async watchStates() {
      const seen: string[] = []
      await page.exposeFunction('holdfastState', (state: string) => {
        if (seen.at(-1) !== state) seen.push(state)
      })
      await page.addInitScript(observeStates)
      await page.evaluate(observeStates)
      return seen
    },
  }
}

/** Runs in the page. */
function observeStates(): void {
  const report = Reflect.get(window, 'holdfastState') as (state: string) => void
  const tell = (): void => {
    const state = document.querySelector('[data-testid=status]')?.getAttribute('data-state')
    if (state) report(state)
  }
  new MutationObserver(tell).observe(document, { subtree: true, childList: true, attributes: true })
  tell()
}
