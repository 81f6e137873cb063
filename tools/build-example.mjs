// Builds what `npm start` serves, without Nx, which it does not install: one compiler run for all packages takes half
// the time of a run each, and Next.js runs only when something has changed.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { exampleFolder, packageFolders, root } from './folders.mjs'

const app = join(root, exampleFolder)
/** `next build` removes it with all that an earlier build has left. */
const stampPath = join(app, '.next', 'holdfast-built')
/** What the app's folder has beside its sources. */
const NO_SOURCES = new Set(['.holdfast', '.next', 'next-env.d.ts', 'node_modules', 'screenshots', 'tests', 'tools'])

/** @returns {string[]} */
function filesIn(/** @type {string} */ folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

function fingerprint() {
  const entries = readdirSync(app, { withFileTypes: true }).filter(({ name }) => !NO_SOURCES.has(name))
  const own = entries.flatMap((entry) => {
    const path = join(app, entry.name)
    return entry.isFile() ? path : filesIn(path)
  })
  const files = [
    join(root, 'package-lock.json'),
    ...own,
    ...packageFolders.flatMap((folder) => filesIn(join(root, folder, 'dist'))),
  ]
  const hash = createHash('sha256').update(`standalone ${process.env['HOLDFAST_STANDALONE'] ?? ''}\n`)
  for (const path of files.sort()) {
    const { mtimeMs, size } = statSync(path)
    hash.update(`${path} ${mtimeMs} ${size}\n`)
  }
  return hash.digest('hex')
}

/** @returns {boolean} whether the program ended well */
function run(/** @type {string} */ name, /** @type {string[]} */ args, /** @type {string} */ cwd) {
  const { status, error } = spawnSync(join(root, 'node_modules', '.bin', name), args, {
    cwd,
    env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1' },
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  if (error) console.error(`${name}: ${error.message}`)
  return status === 0
}

/** Repeatable: without a change it takes a fraction of a second. @returns {boolean} whether the app can be served */
export function buildExample() {
  // Types are for `npm test` to check; the compiler marks what it has not checked.
  const configs = packageFolders.map((folder) => join(folder, 'tsconfig.build.json'))
  if (!run('tsc', ['-b', '--noCheck', ...configs], root)) return false

  const wanted = fingerprint()
  if (existsSync(stampPath) && readFileSync(stampPath, 'utf8') === wanted) return true
  if (!run('next', ['build'], app)) return false
  writeFileSync(stampPath, wanted)
  return true
}
