// Builds the local Daytona server and becomes it. Signals reach the server itself, so that it can end its sandboxes.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { root } from './folders.mjs'
import { nxEnv, runNx } from './nx.mjs'

const build = runNx(['run', '@holdfast/testing:build', '--outputStyle=static'], ['ignore', 'ignore', 'inherit'])
if (build.status !== 0) process.exit(build.status ?? 1)

const main = join(root, 'packages', 'testing', 'dist', 'daytona', 'main.js')
const server = spawn(process.execPath, [main, ...process.argv.slice(2)], { cwd: root, env: nxEnv, stdio: 'inherit' })
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
  process.on(signal, () => server.kill(signal))
server.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal ? 128 : 1)
})
