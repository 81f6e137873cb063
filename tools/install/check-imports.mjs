import { copyFileSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../nx.mjs'
import { LOADED_WITH } from './projects.mjs'

/** @typedef {import('./stranger-project.mjs').StrangerProject} StrangerProject */

/** Our own, TanStack's, and what TanStack's own files import. */
const EXPECTED = /^(@holdfast\/[^/]+|@tanstack\/[^/]+|@ag-ui\/[^/]+|partial-json)$/

/**
 * Imports every entry by itself.
 *
 * @returns {string[]} what is wrong
 */
export function importFaults(/** @type {StrangerProject} */ project, /** @type {string[]} */ entries) {
  copyFileSync(join(root, 'tools/install/log-loaded.mjs'), join(project.folder, 'log-loaded.mjs'))
  return entries.flatMap((entry) => {
    const loaded = loadedPackages(project, entry)
    const allowed = LOADED_WITH[/** @type {keyof typeof LOADED_WITH} */ (entry)]
    if (!allowed) return []
    const surplus = loaded.filter((name) => !EXPECTED.test(name) && !allowed.includes(name))
    return surplus.map((name) => `${entry} loads ${name} as soon as it is imported`)
  })
}

/** An entry whose peer is missing says how to get it, and says so with a code. */
export function missingPeerFaults(/** @type {StrangerProject} */ project, /** @type {string[]} */ entries) {
  return entries.flatMap((entry) => {
    const script = `await import('${entry}').then(() => console.log('loaded'), (e) => console.log(e.code, e.message))`
    const said = project.runNode(['--input-type=module', '-e', script])
    return /^PEER_MISSING .*npm install/.test(said) ? [] : [`${entry} without its peer says: ${said}`]
  })
}

/** @returns {string[]} */
function loadedPackages(/** @type {StrangerProject} */ project, /** @type {string} */ entry) {
  const file = join(project.folder, 'loaded.txt')
  rmSync(file, { force: true })
  const script = `const names = Object.keys(await import('${entry}')); if (names.length === 0) throw new Error('exports nothing')`
  project.runNode(['--import', './log-loaded.mjs', '--input-type=module', '-e', script], { env: { LOADED_FILE: file } })
  const names = readFileSync(file, 'utf8').matchAll(/.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//g)
  return [...new Set([...names].map(([, name = '']) => name))]
}
