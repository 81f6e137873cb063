import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../folders.mjs'

/**
 * @typedef {object} PackedPackage
 * @property {string} name
 * @property {string} version
 * @property {string} tarball
 * @property {string} folder what the tarball holds, unpacked
 * @property {Record<string, any>} manifest the packed one
 */

/** Runs a program to its end and gives what it printed. */
export function run(/** @type {string} */ program, /** @type {string[]} */ args, /** @type {string} */ cwd = root) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  if (status === 0) return stdout
  throw new Error(`${program} ${args.join(' ')} failed in ${cwd}\n${stdout}${stderr}${error?.message ?? ''}`)
}

/**
 * Packs every package as it is built, into `target`.
 *
 * @returns {PackedPackage[]}
 */
export function packPackages(/** @type {string} */ target) {
  return readdirSync(join(root, 'packages')).map((directory) => {
    const source = join(root, 'packages', directory)
    const unpacked = join(target, directory)
    mkdirSync(unpacked, { recursive: true })
    const [packed] = Object.values(JSON.parse(run('npm', ['pack', '--json', '--pack-destination', target], source)))
    const tarball = join(target, packed.filename.replace('@', '').replace('/', '-'))
    run('tar', ['-xzf', tarball, '-C', unpacked])
    const folder = join(unpacked, 'package')
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    return { name: manifest.name, version: manifest.version, tarball, folder, manifest }
  })
}
