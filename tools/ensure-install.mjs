// Installs what the lock file asks for, or with `--app` only what it takes to build the example and to run it. Does
// nothing when it has. Runs before anything is installed, so it may import nothing but Node itself.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { removeAddressedLock, writeAddressedLock } from './addressed-lock.mjs'
import { exampleFolder, root } from './folders.mjs'

const inRoot = (/** @type {string} */ path) => join(root, path)

const stampPath = inRoot('node_modules/.holdfast-install')
/** npm's own record of what a finished install put on the disk. */
const installedPath = inRoot('node_modules/.package-lock.json')

/**
 * @typedef {{ version?: string, resolved?: string, link?: boolean, optional?: boolean, os?: string[], cpu?: string[], libc?: string[] }} Entry
 * @typedef {Record<string, Entry>} Entries
 */

/** @returns {Entries} */
const readEntries = (/** @type {string} */ path) => JSON.parse(readFileSync(path, 'utf8')).packages

/** What stands in the stamp behind an install of the app alone. */
const APP_ONLY = ' app'
const APP_SELECTION = [`--workspace=${exampleFolder}`, '--omit=dev']

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

let isStopped = false

/** @returns {Promise<boolean>} whether npm installed everything */
async function npmCi(/** @type {string[]} */ selection) {
  // No dependency may need an install script: npm 12 runs none by default.
  // The lock's hashes decide what is right, so what the cache has needs no question to the registry.
  const args = ['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
  const npm = spawn('npm', [...args, ...selection], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
    // This process has to outlive npm, to clean up behind it.
    process.on(signal, () => {
      isStopped = true
      npm.kill(signal)
    })
  }
  const [code] = await once(npm, 'exit')
  return code === 0
}

async function install(/** @type {string[]} */ selection) {
  try {
    if (writeAddressedLock(root) && (await npmCi(selection))) return true
  } finally {
    removeAddressedLock(root)
  }
  if (isStopped) return false
  console.log('Installing again, without addresses: the registry may keep its packages elsewhere')
  return npmCi(selection)
}

const stamp = currentStamp()
const stamped = existsSync(stampPath) ? readFileSync(stampPath, 'utf8') : undefined
/** Whoever has everything keeps everything. */
const isAppEnough = process.argv.includes('--app') && (stamped?.endsWith(APP_ONLY) ?? !existsSync(installedPath))
const wanted = isAppEnough ? stamp + APP_ONLY : stamp

if (stamped !== wanted) {
  removeAddressedLock(root)
  if (isAppEnough || !isInstalledByHand()) {
    console.log('Installing dependencies (npm ci)')
    if (!(await install(isAppEnough ? APP_SELECTION : []))) process.exit(1)
  }
  writeFileSync(stampPath, wanted)
}
