import { copyFileSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../folders.mjs'
import { LOADED_WITH } from './projects.mjs'

/** @typedef {import('./stranger-project.mjs').StrangerProject} StrangerProject */

/** Our own, TanStack's, and what TanStack's own files import. */
const EXPECTED = /^(@holdfast\/[^/]+|@tanstack\/[^/]+|@ag-ui\/[^/]+|partial-json)$/

/**
 * Imports every entry by itself.
 *
 * @returns {Promise<string[]>} what is wrong
 */
export async function importFaults(/** @type {StrangerProject} */ project, /** @type {string[]} */ entries) {
  copyFileSync(join(root, 'tools/install/log-loaded.mjs'), join(project.folder, 'log-loaded.mjs'))
  const faults = []
  for (const entry of entries) {
    const loaded = await loadedPackages(project, entry)
    /** @type {readonly string[] | undefined} */
    const allowed = LOADED_WITH[/** @type {keyof typeof LOADED_WITH} */ (entry)]
    if (!allowed) continue
    const surplus = loaded.filter((name) => !EXPECTED.test(name) && !allowed.includes(name))
    faults.push(...surplus.map((name) => `${entry} loads ${name} as soon as it is imported`))
  }
  return faults
}

/** An entry whose peer is missing says how to get it, and says so with a code. */
export async function missingPeerFaults(/** @type {StrangerProject} */ project, /** @type {string[]} */ entries) {
  const faults = []
  for (const entry of entries) {
    const script = `await import('${entry}').then(() => console.log('loaded'), (e) => console.log(e.code, e.message))`
    const said = await project.runNode(['--input-type=module', '-e', script])
    if (!/^PEER_MISSING .*npm install/.test(said)) faults.push(`${entry} without its peer says: ${said}`)
  }
  return faults
}

/** @returns {Promise<string[]>} */
async function loadedPackages(/** @type {StrangerProject} */ project, /** @type {string} */ entry) {
  const file = join(project.folder, 'loaded.txt')
  rmSync(file, { force: true })
  const script = `const names = Object.keys(await import('${entry}')); if (names.length === 0) throw new Error('exports nothing')`
  const args = ['--import', './log-loaded.mjs', '--input-type=module', '-e', script]
  await project.runNode(args, { env: { LOADED_FILE: file } })
  const names = readFileSync(file, 'utf8').matchAll(/.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//g)
  return [...new Set([...names].map(([, name = '']) => name))]
}
