// Runs one benchmark (`npm run bench -- exec`), or all of them and then writes docs/benchmarks.md.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { arch, cpus, platform, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { root } from './nx.mjs'

/**
 * Module and export of each benchmark. It prints its own table, ratios included, and sets the exit code when a budget
 * is missed.
 */
const BENCHES = {
  exec: { title: 'Commands on Daytona', source: ['packages/provider-daytona/bench/exec.ts', 'benchExec'] },
  checkpoints: { title: 'Checkpoints', source: ['packages/middleware/bench/checkpoints.ts', 'benchCheckpoints'] },
  store: { title: 'Stores on PostgreSQL', source: ['packages/store-drizzle/bench/bench-store.ts', 'benchStore'] },
}

/** @typedef {keyof typeof BENCHES} BenchName */

const names = /** @type {BenchName[]} */ (Object.keys(BENCHES))

function runBench(
  /** @type {BenchName} */ name,
  /** @type {string[]} */ args,
  /** @type {'inherit' | 'pipe'} */ stdout = 'inherit',
) {
  const command = [join(root, 'tools', 'run-source.mjs'), ...BENCHES[name].source, ...args]
  return spawnSync(process.execPath, command, { cwd: root, stdio: ['ignore', stdout, 'inherit'], encoding: 'utf8' })
}

function machine() {
  const processors = cpus()
  const memoryGiB = Math.round(totalmem() / 2 ** 30)
  const processor = processors[0]?.model.trim() || arch()
  return `${processors.length} × ${processor}, ${memoryGiB} GiB, ${platform()} ${release()}, Node ${process.version}`
}

function section(/** @type {BenchName} */ name) {
  const { status, stdout } = runBench(name, [], 'pipe')
  const printed = stdout.trim()
  console.log(`\n=== ${name}\n${printed}`)
  if (status !== 0) process.exitCode = 1
  const isMarkdown = printed.startsWith('|')
  return [`## ${BENCHES[name].title}`, '', isMarkdown ? printed : `\`\`\`\n${printed}\n\`\`\``, ''].join('\n')
}

function runAll() {
  const introduction = [
    '# Benchmarks',
    '',
    'Written by `npm run bench`. What counts are the ratios: each compares two ways to the same end in one run on one machine.',
    'The times belong to the machine.',
    '',
    machine(),
    '',
  ]
  const text = [...introduction, ...names.map(section)].join('\n')
  writeFileSync(join(root, 'docs/benchmarks.md'), text)
  console.log('\ndocs/benchmarks.md is written')
}

const [name, ...args] = process.argv.slice(2)
if (name === undefined) runAll()
else if (Object.hasOwn(BENCHES, name)) process.exitCode = runBench(/** @type {BenchName} */ (name), args).status ?? 1
else {
  console.error(`There is no benchmark ${name}. Say one of ${names.join(', ')}, or none for all.`)
  process.exitCode = 2
}
