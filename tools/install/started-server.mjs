import { spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from './local-registry.mjs'

const START_TIMEOUT_MS = 120_000
const STOP_TIMEOUT_MS = 30_000
const TRY_EVERY_MS = 200

/**
 * @typedef {object} StartedServer
 * @property {string} url
 * @property {() => string} log all that it printed
 * @property {() => Promise<number | null>} stop sends SIGTERM and gives the exit code; repeatable
 */

/**
 * Runs a script that serves HTTP, on a free port, until it answers.
 *
 * @param {(port: number) => string[]} args of Node
 * @param {{ cwd: string, env: NodeJS.ProcessEnv }} options
 * @returns {Promise<StartedServer>}
 */
export async function startServer(args, { cwd, env }) {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const child = spawn(process.execPath, args(port), {
    cwd,
    env: { ...process.env, PORT: String(port), HOSTNAME: '127.0.0.1', NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (/** @type {Buffer} */ text) => (said += text))
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  /** @type {Promise<number | null>} */
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const stop = async () => {
    child.kill('SIGTERM')
    const late = setTimeout(kill, STOP_TIMEOUT_MS)
    const code = await ended
    clearTimeout(late)
    process.off('exit', kill)
    return code
  }
  const deadline = performance.now() + START_TIMEOUT_MS
  while (!(await answers(url))) {
    if (child.exitCode === null && performance.now() < deadline) await pause(TRY_EVERY_MS)
    else throw new Error(`${args(port).join(' ')} does not answer, and ended with ${await stop()}. It said:\n${said}`)
  }
  return { url, log: () => said, stop }
}

async function answers(/** @type {string} */ url) {
  try {
    await fetch(url)
    return true
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}
