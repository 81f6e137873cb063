// A lock file that names a registry, or that was written where a platform's optional package was missing, breaks the
// next clone elsewhere.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './folders.mjs'

/** @typedef {Record<'dependencies' | 'devDependencies' | 'optionalDependencies' | 'peerDependencies', Record<string, string> | undefined>} DependencyFields */
/** @typedef {DependencyFields & { resolved?: string, link?: boolean }} Entry */

/** @type {(path: string) => any} */
const readJson = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'))

const lockText = readFileSync(join(root, 'package-lock.json'), 'utf8')
/** @type {Record<string, Entry>} */
const entries = JSON.parse(lockText).packages

function registryAddresses() {
  return Object.entries(entries)
    .filter(([, { resolved }]) => /^[a-z+]+:\/\//.test(resolved ?? ''))
    .map(([path, { resolved }]) => `${path || 'the root'} is locked to ${resolved}`)
}

/** The places where Node looks for `name` from the package at `from`, nearest first. */
function lookupPaths(/** @type {string} */ from, /** @type {string} */ name) {
  const folders = from.split('/node_modules/')
  const own = folders.map((_, index) => [...folders.slice(0, folders.length - index), name].join('/node_modules/'))
  return [...own, `node_modules/${name}`]
}

function missingOptionalPackages() {
  return Object.entries(entries).flatMap(([from, entry]) =>
    Object.keys(entry.optionalDependencies ?? {})
      .filter((name) => !lookupPaths(from, name).some((path) => path in entries))
      .map((name) => `${from || 'the root'} has no lock entry for its optional package ${name}`),
  )
}

/** `npm ci` refuses such a tree, but only on the next fresh clone. */
function manifestsAheadOfLock() {
  const fields = /** @type {const} */ (['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'])
  return Object.entries(entries)
    .filter(([path, entry]) => !path.includes('node_modules') && !entry.link)
    .flatMap(([path, entry]) => {
      const manifest = readJson(join(path, 'package.json'))
      return fields
        .filter((field) => sortedText(manifest[field]) !== sortedText(entry[field]))
        .map((field) => `${join(path, 'package.json')} and the lock file differ in ${field}: run npm install`)
    })
}

function sortedText(/** @type {Record<string, string> | undefined} */ map) {
  return JSON.stringify(Object.entries(map ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)))
}

const faults = [...registryAddresses(), ...missingOptionalPackages(), ...manifestsAheadOfLock()]
for (const fault of faults) console.error(`package-lock.json: ${fault}`)
process.exitCode = faults.length > 0 ? 1 : 0
