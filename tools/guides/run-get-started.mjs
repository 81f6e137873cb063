import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { root } from '../nx.mjs'
import { startFakeOpenAi } from './fake-openai.mjs'
import { readSnippets } from './read-snippets.mjs'

const MAX_OWN_LINES = 60
const START_TRIES = 150

/**
 * Does what docs/guides/get-started.md says, in `folder`, with the packages of `registry`; then sends one message.
 *
 * @param {{ folder: string, registry: string, port: number }} where
 * @returns {Promise<string[]>} what went wrong
 */
export async function getStartedFaults({ folder, registry, port }) {
  mkdirSync(folder, { recursive: true })
  const env = { ...process.env, npm_config_userconfig: userConfig(folder, registry), NEXT_TELEMETRY_DISABLED: '1' }
  let cwd = folder
  let ownLines = 0
  for (const { language, options, text } of orderedSteps()) {
    if (options['file'] !== undefined) {
      mkdirSync(dirname(join(cwd, options['file'])), { recursive: true })
      writeFileSync(join(cwd, options['file']), text)
      ownLines += text.split('\n').filter((line) => line.trim() !== '' && !line.trim().startsWith('//')).length
    } else if (language === 'sh') for (const line of text.trim().split('\n')) cwd = typeLine(line, cwd, env)
  }
  console.log(`    ${ownLines} lines of own code, of ${MAX_OWN_LINES}`)
  await tryApp(cwd, port, env)
  return ownLines < MAX_OWN_LINES ? [] : [`The guide needs ${ownLines} lines of own code.`]
}

/** The user's own settings, and where our packages are. (A shell drops a variable with `@` in its name.) */
function userConfig(/** @type {string} */ folder, /** @type {string} */ registry) {
  const own = process.env['npm_config_userconfig'] ?? join(homedir(), '.npmrc')
  const path = join(folder, 'user.npmrc')
  writeFileSync(path, `${existsSync(own) ? readFileSync(own, 'utf8') : ''}\n@holdfast:registry=${registry}\n`)
  return path
}

/** In the order of the page: files are written where they stand, steps are typed where they stand. */
function orderedSteps() {
  const all = readSnippets(join(root, 'docs/guides/get-started.md'))
  return all.filter(({ options }) => 'file' in options || 'run' in options)
}

/** @returns {string} the folder that one is in afterwards */
function typeLine(/** @type {string} */ line, /** @type {string} */ cwd, /** @type {NodeJS.ProcessEnv} */ env) {
  if (line.startsWith('cd ')) return resolve(cwd, line.slice(3))
  const quiet = line.startsWith('npm install') ? `${line} --no-audit --no-fund --prefer-offline --ignore-scripts` : line
  const { status, stdout, stderr } = spawnSync(quiet, { cwd, env, shell: true, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${line} ended with ${status}\n${stdout}${stderr}`)
  return cwd
}

async function tryApp(/** @type {string} */ cwd, /** @type {number} */ port, /** @type {NodeJS.ProcessEnv} */ env) {
  const model = await startFakeOpenAi({ command: 'echo made in the sandbox > made.txt', answer: 'All done.' })
  const next = join(cwd, 'node_modules', 'next', 'dist', 'bin', 'next')
  const server = spawn(process.execPath, [next, 'start', '--port', String(port), '--hostname', '127.0.0.1'], {
    cwd,
    env: { ...env, OPENAI_API_KEY: 'none', OPENAI_BASE_URL: model.url },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (text) => (said += text))
  try {
    await useApp(`http://127.0.0.1:${port}`)
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.stack : String(error)}\nThe server said:\n${said}`)
  } finally {
    server.kill()
    model.close()
  }
}

async function useApp(/** @type {string} */ url) {
  const page = await waitForPage(url)
  assert.match(await page.text(), /<form/)
  const messages = [{ id: 'message-1', role: 'user', content: 'Make a file' }]
  const body = { threadId: 'first', runId: 'run-1', messages, tools: [], context: [], state: {}, forwardedProps: {} }
  const sent = await fetch(`${url}/api/chat`, { method: 'POST', body: JSON.stringify(body) })
  const events = await sent.text()
  assert.ok(events.includes('All done.') && events.includes('RUN_FINISHED'), events)
  const file = await (await fetch(`${url}/api/threads/first/files/content?path=made.txt`)).text()
  assert.ok(file.includes('made in the sandbox'), file)
  /** @type {any} */
  const { checkpoints } = await (await fetch(`${url}/api/threads/first/checkpoints`)).json()
  assert.equal(checkpoints.length, 1, 'the answer left a checkpoint')
}

/** @returns {Promise<Response>} */
async function waitForPage(/** @type {string} */ url) {
  for (let tried = 0; ; tried += 1) {
    try {
      return await fetch(url)
    } catch (error) {
      if (!(error instanceof TypeError) || tried === START_TRIES) throw error
      await pause(200)
    }
  }
}
