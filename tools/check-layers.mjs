// Every package may know core, and core knows none of them: that is what makes each installable alone.
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import { parseSync } from 'oxc-parser'
import { root } from './folders.mjs'
import { runNx } from './nx.mjs'

const CORE = '@holdfast/core'
const TESTING = '@holdfast/testing'
/** Private projects at the top: they may use everything, and nothing may use them. */
const APPS = new Set(['example', 'guides', 'proofs'])

/** What of ours each package may ship with. */
const SHIPPED = {
  [CORE]: [],
  '@holdfast/middleware': [CORE],
  '@holdfast/provider-daytona': [CORE],
  '@holdfast/store-drizzle': [CORE],
  [TESTING]: [CORE],
}

const VAGUE_NAMES = /^(utils?|helpers?|types?|common|misc|lib|shared)\.[cm]?tsx?$/

/** @typedef {{ name: string, folder: string, manifest: Record<string, any> }} Package */

/** @type {string[]} */
const faults = []

function readGraph() {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-graph-'))
  try {
    const file = join(folder, 'graph.json')
    const { status, stderr } = runNx(['graph', `--file=${file}`], 'pipe')
    if (status !== 0) throw new Error(`Nx could not draw the project graph\n${stderr}`)
    return JSON.parse(readFileSync(file, 'utf8')).graph
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function checkGraph(
  /** @type {{ nodes: Record<string, unknown>, dependencies: Record<string, { target: string }[]> }} */ graph,
) {
  for (const project of Object.keys(graph.nodes)) {
    if (APPS.has(project)) continue
    const shipped = SHIPPED[/** @type {keyof typeof SHIPPED} */ (project)]
    if (!shipped) {
      faults.push(`${project} has no place in the layers: add it to tools/check-layers.mjs`)
      continue
    }
    // Core's own tests stand on local stubs, so core may not reach for the test kit even there.
    const allowed = new Set(project === CORE || project === TESTING ? shipped : [...shipped, TESTING])
    for (const { target } of graph.dependencies[project] ?? []) {
      if (target in graph.nodes && !allowed.has(target)) faults.push(`${project} may not depend on ${target}`)
    }
  }
}

/** @returns {Package[]} */
function readPackages() {
  return readdirSync(join(root, 'packages')).map((directory) => {
    const folder = join(root, 'packages', directory)
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    return { name: manifest.name, folder, manifest }
  })
}

function checkShippedDependencies(/** @type {Package} */ { name, manifest }) {
  const shipped = { ...manifest['dependencies'], ...manifest['peerDependencies'], ...manifest['optionalDependencies'] }
  const allowed = SHIPPED[/** @type {keyof typeof SHIPPED} */ (name)] ?? []
  for (const dependency of Object.keys(shipped)) {
    if (!dependency.startsWith('@holdfast/')) continue
    if (!(/** @type {string[]} */ (allowed).includes(dependency)))
      faults.push(`${name} may not ship with ${dependency}`)
  }
  for (const [dependency, range] of Object.entries({ ...shipped, ...manifest['devDependencies'] })) {
    if (/^(workspace|file|link|catalog):/.test(range))
      faults.push(`${name} has ${dependency} as ${range}, which no registry understands`)
  }
}

/** Every module that a source names, with `import type` and constant `import()` included. */
function importsOf(/** @type {string} */ file) {
  const text = readFileSync(file, 'utf8')
  const { module } = parseSync(file, text)
  const reexports = module.staticExports.flatMap(({ entries }) => entries).filter(({ moduleRequest }) => moduleRequest)
  const dynamic = module.dynamicImports.map(({ moduleRequest }) => text.slice(moduleRequest.start, moduleRequest.end))
  return {
    specifiers: [
      ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
      ...reexports.map(({ moduleRequest }) => /** @type {{ value: string }} */ (moduleRequest).value),
      ...dynamic.filter((source) => /^['"].*['"]$/.test(source)).map((source) => source.slice(1, -1)),
    ],
    hasStarExport: reexports.some(({ importName }) => importName.kind.startsWith('All')),
  }
}

const packageOf = (/** @type {string} */ specifier) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

function checkRelativeImports(/** @type {Package} */ { folder }, /** @type {string} */ file) {
  for (const specifier of importsOf(file).specifiers.filter((name) => name.startsWith('.'))) {
    const place = relative(root, file)
    const target = join(file, '..', specifier)
    if (relative(folder, target).startsWith('..')) faults.push(`${place}: ${specifier} leaves the package`)
    if (specifier.endsWith('.js') && !existsSync(target))
      faults.push(`${place}: ${specifier} must end in .ts, as the source does`)
  }
}

function checkPackageImports(/** @type {Package} */ { name, manifest }, /** @type {string} */ file) {
  const declared = { ...manifest['dependencies'], ...manifest['peerDependencies'], ...manifest['optionalDependencies'] }
  for (const specifier of importsOf(file).specifiers) {
    if (/^(node:|\.)/.test(specifier)) continue
    const imported = packageOf(specifier)
    if (imported === name || imported in declared) continue
    faults.push(`${relative(root, file)}: ${imported} is not declared in ${name}'s package.json`)
  }
}

function checkShape(/** @type {string} */ file) {
  const place = relative(root, file)
  if (VAGUE_NAMES.test(basename(file))) faults.push(`${place}: name the file for the concept it holds`)
  if (basename(file) === 'index.ts' && importsOf(file).hasStarExport) faults.push(`${place}: list the exports by name`)
}

function sourcesIn(/** @type {string} */ folder) {
  if (!existsSync(folder)) return []
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return paths.filter((path) => /\.[cm]?tsx?$/.test(path)).map((path) => join(folder, path))
}

function checkPackage(/** @type {Package} */ pkg) {
  checkShippedDependencies(pkg)
  for (const file of sourcesIn(join(pkg.folder, 'src'))) {
    checkShape(file)
    checkRelativeImports(pkg, file)
    checkPackageImports(pkg, file)
  }
  for (const file of sourcesIn(join(pkg.folder, 'tests'))) checkRelativeImports(pkg, file)
}

checkGraph(readGraph())
for (const pkg of readPackages()) checkPackage(pkg)

for (const fault of faults) console.error(fault)
process.exitCode = faults.length > 0 ? 1 : 0
