// Everything that CI checks, cheapest first, stopping at the first stage that fails.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { stripVTControlCharacters } from 'node:util'
import { whenNpmIsGone } from './npm-parent.mjs'
import { root } from './folders.mjs'
import { nxCommand, nxEnv } from './nx.mjs'

const bin = (/** @type {string} */ name) => join(root, 'node_modules', '.bin', name)
const node = (/** @type {string[]} */ ...args) => [process.execPath, ...args]
const nx = (/** @type {string[]} */ ...args) => [...nxCommand, 'run-many', '--outputStyle=static', ...args]

/** @type {{ title: string, commands: string[][] }[]} */
const stages = [
  { title: 'format', commands: [[bin('oxfmt'), '--check']] },
  { title: 'lint', commands: [[bin('oxlint'), '--type-aware', '--deny-warnings'], node('tools/check-lock.mjs')] },
  { title: 'types', commands: [nx('-t', 'typecheck'), [bin('tsc'), '-p', 'tools/tsconfig.json']] },
  {
    title: 'layers',
    commands: [
      node('tools/check-layers.mjs'),
      node('tools/check-doc-comments.mjs'),
      node('tools/errors-reference.mjs', '--check'),
      node(
        '--test',
        '--test-reporter=dot',
        'tools/tests/release-checks.test.mjs',
        'tools/tests/addressed-lock.test.mjs',
      ),
    ],
  },
  { title: 'build', commands: [nx('-t', 'build')] },
  { title: 'unit, conformance, concurrency', commands: [nx('-t', 'test', '--parallel=2')] },
  { title: 'end to end', commands: [nx('-t', 'e2e', '--parallel=1')] },
]

/** What a person wants to see of a stage that goes well; one that fails prints all that it said. */
const WORTH_SHOWING = /^> nx run |^\s*(Test Files|Tests|Type Errors)\s+\d|\bskipped\b|No tasks were run/

/** @type {import('node:child_process').ChildProcess | undefined} */
let running
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => running?.kill(signal))

/** @returns {Promise<boolean>} whether the command passed */
function passes(/** @type {string[]} */ [command = '', ...args]) {
  const child = spawn(command, args, {
    cwd: root,
    env: nxEnv,
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32' && command !== process.execPath,
  })
  /** @type {string[]} */
  const output = []
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      output.push(line)
      const plain = stripVTControlCharacters(line)
      if (WORTH_SHOWING.test(plain)) console.log(plain)
    })
  }
  running = child

  return new Promise((resolve) => {
    child.on('error', (error) => output.push(error.message))
    child.on('close', (code) => {
      if (code !== 0) console.log(output.join('\n'))
      resolve(code === 0)
    })
  })
}

async function everyCommandPasses(/** @type {string[][]} */ commands) {
  for (const command of commands) {
    if (!(await passes(command))) return false
  }
  return true
}

whenNpmIsGone(() => process.kill(process.pid, 'SIGTERM'))

let passed = 0
let failed = 0
for (const { title, commands } of stages) {
  console.log(`\n=== ${title}`)
  const startedAt = performance.now()
  const isGreen = await everyCommandPasses(commands)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`--- ${title}: ${isGreen ? 'passed' : 'FAILED'} in ${seconds} s`)
  if (isGreen) passed += 1
  else {
    failed += 1
    break
  }
}

const notRun = stages.length - passed - failed
if (notRun > 0) console.log(`\n${notRun} later stages did not run`)
console.log(`\n${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0
