// The example as each bundler builds it, started where the repository is not, on local and on (doubled) Daytona sandboxes.
import { cp, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exampleFolder, root } from '../folders.mjs'
import { runProgram } from '../run-program.mjs'
import { startDaytonaDouble } from './daytona-double.mjs'
import { startServer } from './started-server.mjs'
import { useExample } from './use-example.mjs'

const app = join(root, exampleFolder)
const nextProgram = join(root, 'node_modules', 'next', 'dist', 'bin', 'next')

/** @typedef {'webpack' | 'turbopack'} Bundler */
/** @typedef {{ title: string, script: string, provider: 'process' | 'daytona' }} Trial */

/** Turbopack last: its build stays, and the example is served from that one. */
const BUNDLERS = /** @type {Bundler[]} */ (['webpack', 'turbopack'])

/**
 * @param {string} folder
 * @param {(line: string) => void} note
 * @returns {Promise<string[]>} what went wrong
 */
export async function exampleFaults(folder, note) {
  const faults = []
  for (const bundler of BUNDLERS) {
    const startedAt = performance.now()
    const standalone = await build(bundler, join(folder, bundler))
    note(`${bundler}: built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
    for (const trial of trialsOf(bundler, standalone)) {
      const found = await tryOnProvider(trial, join(folder, `${bundler} ${trial.title}`))
      if (found.length === 0) note(`${bundler}: ${trial.title} works`)
      faults.push(...found.map((fault) => `${bundler}, ${trial.title}: ${fault}`))
    }
  }
  return faults
}

/** `next start` on Turbopack's build is what the example's own end to end tests use. @returns {Trial[]} */
function trialsOf(/** @type {Bundler} */ bundler, /** @type {string} */ standalone) {
  const start = join(app, 'server', 'start.mjs')
  return [
    ...(bundler === 'webpack'
      ? [{ title: 'next start', script: start, provider: /** @type {const} */ ('process') }]
      : []),
    { title: 'standalone', script: standalone, provider: 'process' },
    { title: 'standalone on Daytona', script: standalone, provider: 'daytona' },
  ]
}

/** @returns {Promise<string>} the program of the standalone output, which is a copy outside of the repository */
async function build(/** @type {Bundler} */ bundler, /** @type {string} */ folder) {
  await runProgram(process.execPath, [nextProgram, 'build', `--${bundler}`], {
    cwd: app,
    env: { HOLDFAST_STANDALONE: '1', NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' },
  })
  const output = join(app, '.next')
  await mkdir(folder, { recursive: true })
  await cp(join(output, 'standalone'), folder, { recursive: true, verbatimSymlinks: true })
  const copy = join(folder, exampleFolder)
  await cp(join(output, 'static'), join(copy, '.next', 'static'), { recursive: true })
  return join(copy, 'server.js')
}

/** Each trial has an account of its own: to a new database, the sandboxes of another one are a stranger's. */
async function tryOnProvider(/** @type {Trial} */ trial, /** @type {string} */ HOLDFAST_DIR) {
  if (trial.provider === 'process') return trialFaults(trial, { HOLDFAST_DIR })
  const daytona = await startDaytonaDouble()
  try {
    return await trialFaults(trial, { ...daytona.env, HOLDFAST_DIR })
  } finally {
    await daytona.stop()
  }
}

async function trialFaults(/** @type {Trial} */ { script, provider }, /** @type {NodeJS.ProcessEnv} */ env) {
  const start = () => startServer(() => [script], { cwd: tmpdir(), env: { NEXT_MANUAL_SIG_HANDLE: '1', ...env } })
  let server = await start()
  try {
    await useExample(server.url, provider)
    const code = await server.stop()
    if (code !== 0) return [`ended with ${code} after SIGTERM. It said:\n${server.log()}`]
    server = await start()
    const thread = await (await fetch(`${server.url}/api/chat?threadId=bundled`)).text()
    if (!thread.includes('tick 5')) return [`the thread is gone after a restart: ${thread}`]
    return server.log().includes('could not be loaded') ? [server.log()] : []
  } catch (error) {
    return [`${error instanceof Error ? error.stack : String(error)}\nThe server said:\n${server.log()}`]
  } finally {
    await server.stop()
  }
}
