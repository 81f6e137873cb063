// Runs the TypeScript sources as they are, through Vite, as the tests do.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runnerImport } from 'vite'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const conditions = ['@holdfast/source', 'node', 'import', 'default']
const { module } = await runnerImport(join(root, 'src/simulation/simulate.ts'), {
  root,
  configFile: false,
  logLevel: 'error',
  environments: { inline: { resolve: { conditions, noExternal: [/^@holdfast\//] } } },
})

const [from = 1, runs = 1] = process.argv.slice(2).map(Number)
let current = from

/** A promise that nobody looks after would end a real host. */
process.on('unhandledRejection', (/** @type {any} */ error) => {
  const faults = [`unhandled rejection: ${error?.stack ?? error}`]
  process.send?.({ failure: { seed: current, faults, trace: [], fingerprint: '' } }, () => process.exit(0))
})
const failure = await module.simulate({
  seed: from,
  runs,
  onSeed(/** @type {number} */ seed) {
    current = seed
    if ((seed - from) % 50 === 0) process.send?.({ done: seed - from })
  },
})
process.send?.(failure === null ? { done: runs } : { failure }, () => process.exit(0))
