// Every way into Nx goes through here, so no run starts a daemon or asks a service outside the machine.
import { spawn, spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root } from './folders.mjs'

const require = createRequire(import.meta.url)
const nxManifest = require.resolve('nx/package.json')

/** What to run, before Nx's own arguments. Started directly, so that a signal reaches Nx. */
export const nxCommand = [process.execPath, join(dirname(nxManifest), require(nxManifest).bin.nx)]

export const nxEnv = {
  ...process.env,
  NX_DAEMON: 'false',
  NX_NO_CLOUD: 'true',
  NX_TUI: 'false',
  NX_ISOLATE_PLUGINS: 'false',
}

/**
 * @param {string[]} args
 * @param {import('node:child_process').StdioOptions} [stdio]
 */
export function runNx(args, stdio = 'inherit') {
  const [node = '', nx = ''] = nxCommand
  return spawnSync(node, [nx, ...args], { cwd: root, env: nxEnv, stdio, encoding: 'utf8' })
}

function main() {
  const [node = '', nx = ''] = nxCommand
  const child = spawn(node, [nx, ...process.argv.slice(2)], { cwd: root, env: nxEnv, stdio: 'inherit' })
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => child.kill(signal))
  child.on('exit', (code) => {
    process.exitCode = code ?? 1
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
