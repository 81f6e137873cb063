// Finds and starts the Chrome or Chromium that is installed; none is downloaded.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium } from 'playwright-core'

const NAMES = ['google-chrome-stable', 'google-chrome', 'chromium', 'chromium-browser', 'chrome']
const PLACES = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe',
]

/** @returns {string} the path of a browser; throws with the step to take when there is none */
export function findChrome() {
  const given = process.env['CHROME_PATH']
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const candidates = given ? [given] : [...folders.flatMap((dir) => NAMES.map((name) => join(dir, name))), ...PLACES]
  const found = candidates.find((path) => existsSync(path))
  if (found !== undefined) return found
  throw new Error(
    given
      ? `CHROME_PATH names ${given}, which does not exist.`
      : 'The browser tests need Chrome or Chromium. Install one (Debian: apt-get install chromium), or set CHROME_PATH.',
  )
}

/** A browser that talks to nobody but the pages it is told to open. */
export function launchChrome() {
  return chromium.launch({
    executablePath: findChrome(),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}
