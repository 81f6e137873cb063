import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { run } from '../release/pack-packages.mjs'

const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')

/**
 * Another Node, from the registry. It is kept between runs.
 *
 * @param {string} version as `22`
 */
export function nodeProgram(version) {
  const folder = join(cache, 'holdfast', `node-${version}`)
  const path = join(folder, 'node_modules', 'node', 'bin', 'node')
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }))
    run('npm', ['install', `node@${version}`, '--no-audit', '--no-fund'], folder)
  }
  return { version: run(path, ['--version']).trim(), path }
}
