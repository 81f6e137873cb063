// Builds what `npm start` serves, unless nothing has changed. Without Nx, which `npm start` does not install: the
// example is built from the packages' sources, so there is nothing to order.
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
  const packages = packageFolders.map((folder) => join(root, folder))
  const files = [
    join(root, 'package-lock.json'),
    ...own,
    ...packages.flatMap((folder) => [join(folder, 'package.json'), ...filesIn(join(folder, 'src'))]),
  ]
  const hash = createHash('sha256').update(`standalone ${process.env['HOLDFAST_STANDALONE'] ?? ''}\n`)
  for (const path of files.sort()) {
    const { mtimeMs, size } = statSync(path)
    hash.update(`${path} ${mtimeMs} ${size}\n`)
  }
  return hash.digest('hex')
}

/** Repeatable: without a change it takes a fraction of a second. @returns {boolean} whether the app can be served */
export function buildExample() {
  const wanted = fingerprint()
  if (existsSync(stampPath) && readFileSync(stampPath, 'utf8') === wanted) return true
  const { status, error } = spawnSync(join(root, 'node_modules', '.bin', 'next'), ['build'], {
    cwd: app,
    env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1' },
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  if (error) console.error(`next build: ${error.message}`)
  if (status !== 0) return false
  writeFileSync(stampPath, wanted)
  return true
}
