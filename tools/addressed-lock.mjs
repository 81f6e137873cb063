// The lock file names no registry, so npm looks up each package's list of versions before it takes the package itself,
// even out of a warm cache: a third of an install. A lock with addresses saves that, and is made for one install only.
// Runs before anything is installed, so it may import nothing but Node itself.
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * @typedef {{ name?: string, version?: string, resolved?: string, link?: boolean }} Entry
 * @typedef {{ packages: Record<string, Entry> }} Lock
 */

const FOLDER = 'node_modules/'
/** npm prefers it to `package-lock.json`. */
const PREFERRED_LOCK = 'npm-shrinkwrap.json'
const isWindows = process.platform === 'win32'

/**
 * @template {Lock} L
 * @param {L} lock
 * @param {string} registry
 * @returns {L} with the address of every package that comes from the registry
 */
export function withAddresses(lock, registry) {
  const base = registry.replace(/\/*$/, '')
  const packages = Object.entries(lock.packages).map(([path, entry]) => {
    const start = path.lastIndexOf(FOLDER)
    if (start < 0 || entry.link || entry.resolved || !entry.version) return [path, entry]
    const name = entry.name ?? path.slice(start + FOLDER.length)
    const file = `${name.slice(name.lastIndexOf('/') + 1)}-${entry.version}.tgz`
    return [path, { ...entry, resolved: `${base}/${name}/-/${file}` }]
  })
  return { ...lock, packages: Object.fromEntries(packages) }
}

/** @returns {string | undefined} */
function configuredRegistry() {
  const { stdout } = spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8', shell: isWindows })
  const registry = stdout?.trim()
  return URL.canParse(registry) ? registry : undefined
}

/** Removes what an install that was killed has left. Repeatable. */
export function removeAddressedLock(/** @type {string} */ root) {
  rmSync(join(root, PREFERRED_LOCK), { force: true })
}

/** @returns {boolean} whether npm will find a lock with addresses in `root` */
export function writeAddressedLock(/** @type {string} */ root) {
  const registry = configuredRegistry()
  if (registry === undefined) return false
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  writeFileSync(join(root, PREFERRED_LOCK), JSON.stringify(withAddresses(lock, registry)))
  return true
}
