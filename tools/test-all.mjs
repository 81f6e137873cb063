// Everything that CI checks, cheapest first, stopping at the first stage that fails.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { nxEnv, root } from './nx.mjs'

const bin = (/** @type {string} */ name) => join(root, 'node_modules', '.bin', name)
const node = (/** @type {string[]} */ ...args) => [process.execPath, ...args]
const nx = (/** @type {string[]} */ ...args) => node('tools/nx.mjs', 'run-many', '--outputStyle=static', ...args)

/** @type {{ title: string, commands: string[][] }[]} */
const stages = [
  { title: 'format', commands: [[bin('oxfmt'), '--check']] },
  { title: 'lint', commands: [[bin('oxlint'), '--type-aware', '--deny-warnings'], node('tools/check-lock.mjs')] },
  { title: 'types', commands: [nx('-t', 'typecheck'), [bin('tsc'), '-p', 'tools/tsconfig.json']] },
  { title: 'layers', commands: [node('tools/check-layers.mjs')] },
  { title: 'build', commands: [nx('-t', 'build')] },
  { title: 'unit, conformance, concurrency', commands: [nx('-t', 'test', '--parallel=2')] },
  { title: 'end to end', commands: [nx('-t', 'e2e', '--parallel=1')] },
]

/** @returns {boolean} whether the command passed; what it prints goes straight to the terminal */
function passes(/** @type {string[]} */ [command = '', ...args]) {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    env: nxEnv,
    stdio: 'inherit',
    shell: process.platform === 'win32' && command !== process.execPath,
  })
  if (error) console.error(error.message)
  return status === 0
}

let passed = 0
let failed = 0
for (const { title, commands } of stages) {
  console.log(`\n=== ${title}`)
  const startedAt = performance.now()
  const isGreen = commands.every(passes)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`--- ${title}: ${isGreen ? 'passed' : 'FAILED'} in ${seconds} s`)
  if (isGreen) passed += 1
  else {
    failed += 1
    break
  }
}

const skipped = stages.length - passed - failed
if (skipped > 0) console.log(`\n${skipped} later stages did not run`)
console.log(`\n${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0
