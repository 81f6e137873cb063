// Runs one benchmark (`npm run bench -- exec`), or all of them and then writes docs/benchmarks.md. `--small` runs all that
// has a small size with it, and prints the page instead of writing it.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { arch, cpus, platform, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { root } from './folders.mjs'

/**
 * Module and export of each benchmark. It prints a Markdown table, ratios and budgets included, then one line that sums
 * up; and sets the exit code when a budget is missed.
 */
const BENCHES = {
  exec: {
    title: 'Commands on Daytona',
    about: `Requests to the Daytona API and the time they take, with 20 ms added to each, beside the SDK as one uses it who does not
know the service. *Fewer* is their number of requests over ours.`,
    source: ['packages/provider-daytona/bench/exec.ts', 'benchExec'],
  },
  checkpoints: {
    title: 'Checkpoints',
    about: `2,000 files of 2 KB in a sandbox behind a service that takes 20 ms for a request, beside the same job done file by file
(the delays of which are added up, not waited for). *Fewer* is their number of requests over ours. *Held* is memory that a
collection of garbage cannot free while the job runs.`,
    source: ['packages/middleware/bench/checkpoints.ts', 'benchCheckpoints'],
  },
  store: {
    title: 'Stores on PostgreSQL',
    about: `Each operation beside plain SQL that stores the same bytes through the same driver on the same server, by turns. The server
has PostgreSQL's own settings, so that every commit waits for the disk on both sides. The *ratio* is ours over plain. Of rates
it is the share of the plain rate that is reached, so more is better; of times and bytes it is how many times as much is spent,
so less is better.`,
    source: ['packages/store-drizzle/bench/bench-store.ts', 'benchStore'],
  },
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

/** What the times depend on, and nothing that tells whose machine it is. */
function machine() {
  const processors = cpus()
  const memoryGiB = Math.round(totalmem() / 2 ** 30)
  const processor = processors[0]?.model.trim() || arch()
  return `${processors.length} × ${processor}, ${memoryGiB} GiB, ${platform()} ${release()}, Node ${process.version}`
}

function section(/** @type {BenchName} */ name, /** @type {string[]} */ args) {
  const { status, stdout } = runBench(name, args, 'pipe')
  const printed = stdout.trim()
  console.log(`\n=== ${name}\n${printed}`)
  if (status !== 0) process.exitCode = 1
  const lines = printed.split('\n')
  const table = lines.filter((line) => line.startsWith('|'))
  // A benchmark that broke has no verdict.
  const verdict = lines.at(-1) ?? ''
  if (table.length < 3 || verdict.startsWith('|')) throw new Error(`The benchmark ${name} did not come to its end.`)
  return [`## ${BENCHES[name].title}`, '', BENCHES[name].about, '', ...table, '', `**${verdict}**`, ''].join('\n')
}

function runAll(/** @type {string[]} */ args) {
  const introduction = [
    '# Benchmarks',
    '',
    'Written by `npm run bench`. What counts are the ratios and the numbers of requests: each line compares two ways to the same',
    'end, in one run on one machine. The times belong to that machine. A budget is the limit that the line has to keep.',
    '',
    `${new Date().toISOString().slice(0, 10)}, on ${machine()}`,
    '',
  ]
  return [...introduction, ...names.map((name) => section(name, args))].join('\n')
}

const [name, ...args] = process.argv.slice(2)
if (name === undefined) {
  const page = runAll([])
  writeFileSync(join(root, 'docs/benchmarks.md'), page)
  console.log('\ndocs/benchmarks.md is written')
} else if (name === '--small') {
  console.log(`\n${runAll(['small'])}`)
} else if (Object.hasOwn(BENCHES, name)) {
  process.exitCode = runBench(/** @type {BenchName} */ (name), args).status ?? 1
} else {
  console.error(`There is no benchmark ${name}. Say one of ${names.join(', ')}, or none for all.`)
  process.exitCode = 2
}
