// Builds what the example needs, then becomes its server. Signals reach the server itself, so that it can detach its runs.
import { spawn } from 'node:child_process'
import { nxEnv, root, runNx } from './nx.mjs'

const build = runNx(['run-many', '-t', 'build', '--outputStyle=static'])
if (build.status !== 0) process.exit(build.status ?? 1)

const server = spawn('npm', ['run', 'start', '--workspace=@holdfast/example', '--if-present'], {
  cwd: root,
  env: { ...nxEnv, PORT: process.env['PORT'] ?? '3000' },
  stdio: 'inherit',
  shell: process.platform === 'win32',
})
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
  process.on(signal, () => server.kill(signal))
server.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal ? 128 : 1)
})
