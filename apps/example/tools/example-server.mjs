// Serves the example on a free port with data of its own, for tests and screenshots.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const APP = join(import.meta.dirname, '..')
const START_TIMEOUT_MS = 90_000
const STOP_TIMEOUT_MS = 15_000

/**
 * @typedef {object} ExampleServer
 * @property {string} url
 * @property {number} pid
 * @property {string} dir
 * @property {() => string} log all that the server printed
 * @property {() => Promise<number | null>} stop sends SIGTERM and answers the exit code; repeatable
 * @property {() => Promise<void>} kill9 ends it as a crash does
 * @property {() => Promise<void>} dispose ends it and removes its directory
 */

/**
 * @typedef {object} ExampleServerOptions
 * @property {Record<string, string>} [env]
 * @property {string} [dir] of an earlier server, to continue with its data
 * @property {boolean} [isDev] serves the sources with `next dev` in place of the build
 */

/**
 * @param {ExampleServerOptions} [options]
 * @returns {Promise<ExampleServer>}
 */
export async function startExample(options = {}) {
  const { isDev = false } = options
  if (!isDev && !existsSync(join(APP, '.next', 'BUILD_ID'))) {
    throw new Error('The example is not built: run `npm run build`.')
  }
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'holdfast-example-')))
  const port = await freePort()
  const { child, exit, log } = serve({ dir, port, isDev, env: options.env ?? {} })
  const url = `http://127.0.0.1:${port}`
  try {
    await untilHealthy(url, child, log)
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
  const stop = async () => {
    child.kill('SIGTERM')
    const code = await Promise.race([exit, wait(STOP_TIMEOUT_MS, /** @type {const} */ ('late'))])
    if (code !== 'late') return code
    child.kill('SIGKILL')
    throw new Error(`The server did not stop in time. It printed:\n${log()}`)
  }
  const kill9 = async () => {
    child.kill('SIGKILL')
    await exit
  }
  const dispose = async () => {
    // `next dev` is two processes, which only the first can end both.
    await (isDev ? stop() : kill9())
    await rm(dir, { recursive: true, force: true })
  }
  return { url, pid: child.pid ?? 0, dir, log, stop, kill9, dispose }
}

/** @param {{ dir: string, port: number, isDev: boolean, env: Record<string, string> }} input */
function serve({ dir, port, isDev, env }) {
  const child = spawn(process.execPath, [join(APP, 'server', 'start.mjs'), isDev ? 'dev' : 'start'], {
    cwd: APP,
    env: {
      PATH: process.env['PATH'],
      PORT: String(port),
      HOLDFAST_DIR: dir,
      NODE_ENV: isDev ? 'development' : 'production',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (/** @type {Buffer} */ text) => {
      printed += text.toString()
    })
  }
  /** @type {Promise<number | null>} */
  const exit = new Promise((resolve) => child.on('exit', resolve))
  return { child, exit, log: () => printed }
}

/**
 * @param {string} url
 * @param {import('node:child_process').ChildProcess} child
 * @param {() => string} log
 */
async function untilHealthy(url, child, log) {
  const deadline = performance.now() + START_TIMEOUT_MS
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode}. It printed:\n${log()}`)
    const response = await fetch(`${url}/api/health`).catch(() => null)
    if (response?.ok) return
    await wait(100)
  }
  throw new Error(`The server did not become healthy. It printed:\n${log()}`)
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
