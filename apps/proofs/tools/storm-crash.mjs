// npm run storm:crash [-- --seed 7]
// Kills hosts at every call of their stores and their provider, in runs and in work on checkpoints, and at random moments.
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values } = parseArgs({ options: { seed: { type: 'string', default: '1' } } })
const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const vitest = join(root, '../../node_modules/vitest/vitest.mjs')
const { status } = spawnSync(process.execPath, [vitest, 'run', '--mode', 'e2e', 'tests/e2e/crash-'], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, PROOFS_STORM: '1', PROOFS_SEED: values.seed },
})
process.exitCode = status ?? 1
