// Runs before anything is installed, so it may import nothing but Node itself.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const inRoot = (/** @type {string} */ path) => fileURLToPath(new URL(`../${path}`, import.meta.url))

const stampPath = inRoot('node_modules/.holdfast-install')
/** npm's own record of what a finished install put on the disk. */
const installedPath = inRoot('node_modules/.package-lock.json')

/**
 * @typedef {{ version?: string, resolved?: string, link?: boolean, optional?: boolean, os?: string[], cpu?: string[], libc?: string[] }} Entry
 * @typedef {Record<string, Entry>} Entries
 */

/** @returns {Entries} */
const readEntries = (/** @type {string} */ path) => JSON.parse(readFileSync(path, 'utf8')).packages

function currentStamp() {
  const lock = readFileSync(inRoot('package-lock.json'))
  return createHash('sha256').update(lock).update(`${process.platform} ${process.arch}`).digest('hex')
}

const accepts = (/** @type {string[] | undefined} */ list, /** @type {string} */ value) =>
  list === undefined || list.includes(value)

/**
 * An entry that a complete install on this machine must contain. Of the optional ones that is only sure for a binary
 * made for this processor; npm alone decides about the rest.
 */
const isExpectedHere = (/** @type {Entry} */ { optional, os, cpu, libc }) =>
  !optional || (cpu?.includes(process.arch) === true && accepts(os, process.platform) && libc === undefined)

/** True after a developer's own `npm install`, which leaves no stamp but everything that the lock asks for. */
function isInstalledByHand() {
  if (!existsSync(installedPath)) return false
  const installed = readEntries(installedPath)
  return Object.entries(readEntries(inRoot('package-lock.json')))
    .filter(([path, entry]) => path.includes('node_modules/') && isExpectedHere(entry))
    .every(([path, { version, link, resolved }]) => {
      const found = installed[path]
      return link ? found?.resolved === resolved : found?.version === version
    })
}

const stamp = currentStamp()
const isStamped = existsSync(stampPath) && readFileSync(stampPath, 'utf8') === stamp

if (!isStamped) {
  if (!isInstalledByHand()) {
    console.log('Installing dependencies (npm ci)')
    // No dependency may need an install script: npm 12 runs none by default.
    // The lock's hashes decide what is right, so what the cache has needs no question to the registry.
    const args = ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
    const { status } = spawnSync('npm', args, {
      cwd: inRoot('.'),
      stdio: 'inherit',
      shell: process.platform === 'win32',
    })
    if (status !== 0) process.exit(status ?? 1)
  }
  writeFileSync(stampPath, stamp)
}
