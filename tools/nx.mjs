// Every way into Nx goes through here, so no run starts a daemon or asks a service outside the machine.
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { dirname, join } from 'node:path'

export const root = fileURLToPath(new URL('..', import.meta.url))

const require = createRequire(import.meta.url)
const nxManifest = require.resolve('nx/package.json')
const nxBin = join(dirname(nxManifest), require(nxManifest).bin.nx)

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
  return spawnSync(process.execPath, [nxBin, ...args], { cwd: root, env: nxEnv, stdio, encoding: 'utf8' })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = runNx(process.argv.slice(2)).status ?? 1
}
