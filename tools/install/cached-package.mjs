import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { runProgram } from '../run-program.mjs'

const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')

/**
 * A program that is a package of the registry. It is kept between runs, outside of the repository.
 *
 * @param {string} name
 * @param {string} version
 * @returns {Promise<string>} the package's folder; rejects when the registry does not have it
 */
export async function cachedPackage(name, version) {
  const folder = join(cache, 'holdfast', `${name.replace('/', '-')}-${version}`)
  const installed = join(folder, 'node_modules', name)
  if (!existsSync(join(installed, 'package.json'))) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }))
    const args = ['install', `${name}@${version}`, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    await runProgram('npm', args, { cwd: folder })
  }
  return installed
}

/**
 * Another Node.
 *
 * @param {string} major as `22`
 */
export async function nodeProgram(major) {
  const folder = await cachedPackage(`node-${process.platform}-${process.arch}`, major)
  const path = join(folder, 'bin', 'node')
  return { version: (await runProgram(path, ['--version'])).trim(), path }
}
