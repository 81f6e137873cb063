// Installs the programs of tools/extra at their first use, so that nobody who only builds and tests waits for them.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './folders.mjs'

const folder = join(root, 'tools', 'extra')
const stampPath = join(folder, 'node_modules', '.holdfast-install')

/** Where the installed packages are. */
export const extraModules = join(folder, 'node_modules')

export function installExtraTools() {
  const stamp = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .digest('hex')
  if (existsSync(stampPath) && readFileSync(stampPath, 'utf8') === stamp) return
  console.log('Installing the programs of tools/extra (npm ci)')
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const { status } = spawnSync('npm', args, { cwd: folder, stdio: 'inherit', shell: process.platform === 'win32' })
  if (status !== 0) throw new Error(`npm ci in ${folder} ended with ${status}`)
  writeFileSync(stampPath, stamp)
}

/** @param {string} name the file of an installed program, as `typescript/bin/tsc` */
export const extraTool = (name) => join(extraModules, name)
