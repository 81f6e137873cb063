// Builds what the example needs, then serves it. Signals reach the server itself, so that it can detach its runs.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { buildExample } from './build-example.mjs'
import { exampleFolder, root } from './folders.mjs'
import { whenNpmIsGone } from './npm-parent.mjs'

const app = join(root, exampleFolder)
const command = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8')).scripts?.start

if (!buildExample()) process.exit(1)
if (!command) {
  console.error('apps/example has no start script')
  process.exit(1)
}

const bins = [app, root].map((folder) => join(folder, 'node_modules', '.bin'))
// With exec the server takes the shell's place, and with it every signal that is meant for it.
const server = spawn(process.platform === 'win32' ? command : `exec ${command}`, {
  cwd: app,
  env: { ...process.env, PORT: process.env['PORT'] ?? '3000', PATH: [...bins, process.env['PATH']].join(delimiter) },
  stdio: 'inherit',
  shell: true,
})

process.on('SIGTERM', () => server.kill('SIGTERM'))
process.on('SIGINT', () => {
  // A terminal gives Ctrl+C to the server too, and a second one makes it give up its clean end.
  if (!process.stdin.isTTY) server.kill('SIGINT')
})
whenNpmIsGone(() => server.kill('SIGTERM'))
server.on('exit', (code) => {
  process.exitCode = code ?? 1
})
