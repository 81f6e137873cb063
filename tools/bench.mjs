// Runs one benchmark by name: `npm run bench -- exec`.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { root } from './nx.mjs'

/** Module and export of each benchmark. */
const benches = {
  exec: ['packages/provider-daytona/bench/exec.ts', 'benchExec'],
  store: ['packages/store-drizzle/bench/bench-store.ts', 'benchStore'],
}

const [name, ...args] = process.argv.slice(2)
const bench = Object.hasOwn(benches, name ?? '') ? benches[/** @type {keyof typeof benches} */ (name)] : undefined
if (bench === undefined) {
  console.error(`Say which one: ${Object.keys(benches).join(', ')}`)
  process.exitCode = 2
} else {
  const run = spawnSync(process.execPath, [join(root, 'tools', 'run-source.mjs'), ...bench, ...args], {
    stdio: 'inherit',
  })
  process.exitCode = run.status ?? 1
}
