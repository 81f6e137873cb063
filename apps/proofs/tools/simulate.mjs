// npm run simulate -- --seed 1 --runs 20000 [--workers 2] [--trace]
// Lives through many seeds. The last line is `ok: …`, or names the first seed that failed and how to replay it alone.
import { fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const worker = join(dirname(fileURLToPath(import.meta.url)), 'simulate-worker.mjs')
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    runs: { type: 'string', default: '1000' },
    workers: { type: 'string' },
    trace: { type: 'boolean', default: false },
  },
})
const seed = Number(values.seed)
const runs = Number(values.runs)
const workers = Math.min(runs, Number(values.workers ?? Math.min(2, availableParallelism())))
if (![seed, runs, workers].every((value) => Number.isSafeInteger(value) && value >= 1)) {
  console.error('--seed, --runs and --workers must be whole numbers, 1 or more.')
  process.exit(2)
}

/** @typedef {{ seed: number, faults: string[], trace: string[], fingerprint: string }} Failure */

const startedAt = performance.now()
/** @type {Failure | undefined} */
let failure
let done = 0

await Promise.all(
  Array.from({ length: workers }, (_, index) => {
    const from = seed + Math.floor((runs * index) / workers)
    const until = seed + Math.floor((runs * (index + 1)) / workers)
    return runWorker(from, until - from)
  }),
)

const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
if (failure === undefined && done === runs) {
  console.log(`ok: ${runs} seeds from ${seed} in ${seconds} s`)
} else if (failure === undefined) {
  console.log(`failed: a worker ended after ${done} of ${runs} seeds`)
  process.exitCode = 1
} else {
  if (values.trace) console.log(failure.trace.join('\n'))
  for (const fault of failure.faults) console.log(`fault: ${fault}`)
  console.log(
    `failed: seed ${failure.seed}; replay it with: npm run simulate -- --seed ${failure.seed} --runs 1 --trace`,
  )
  process.exitCode = 1
}

function runWorker(/** @type {number} */ from, /** @type {number} */ count) {
  return new Promise((resolve) => {
    const child = fork(worker, [String(from), String(count)])
    let doneHere = 0
    child.on('message', (/** @type {{ done?: number, failure?: Failure }} */ message) => {
      if (message.done !== undefined) {
        done += message.done - doneHere
        doneHere = message.done
      }
      if (message.failure === undefined) return
      if (failure === undefined || message.failure.seed < failure.seed) failure = message.failure
    })
    child.on('exit', resolve)
  })
}
