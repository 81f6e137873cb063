import { cpSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSync, transformSync } from 'esbuild'
import { root } from '../folders.mjs'
import { importFaults, missingPeerFaults } from './check-imports.mjs'
import { ALL_SETTINGS, typeFaults } from './check-types.mjs'
import { isMain } from './clients.mjs'
import { StrangerProject } from './stranger-project.mjs'

/** @typedef {import('./projects.mjs').Project} Project */
/** @typedef {import('./clients.mjs').Client} Client */
/** @typedef {import('./clients.mjs').ClientName} ClientName */
/** @typedef {import('../release/pack-packages.mjs').PackedPackage} PackedPackage */

const SHARED_SOURCES = ['chat-client.ts', 'scripted-model.ts']

/**
 * Installs a project and looks at what came along and how it type-checks.
 *
 * @param {Project} project
 * @param {{ place: string, client: Client, registry: string, packages: PackedPackage[] }} how
 * @returns {Promise<string[]>}
 */
export async function projectFaults(project, { place, client, registry, packages }) {
  const { name, install, entries, absent = [], programs = [] } = project
  const stranger = StrangerProject.create(place, registry)
  await stranger.install(client, client.takesPeersAlong ? install : [...install, ...peersOf(install, packages)])
  const usesModel = programs.some((program) => /developer|operator/.test(program))
  const files = [...programs, ...(usesModel ? SHARED_SOURCES : [])]
  for (const file of files) writeProgram(stranger, file)
  const checks = typeChecks(client.name, name === 'all together')
  return [
    ...absent.filter((other) => stranger.copiesOf(other).length > 0).map((other) => `${other} came along`),
    ...stranger.doubleCopies().map((other) => `${other} is there more than once`),
    ...(await typeFaults(stranger, { entries, files, checks })),
  ]
}

/** What a client that leaves peers to the user has to be told. */
function peersOf(/** @type {string[]} */ names, /** @type {PackedPackage[]} */ packages) {
  const peers = packages
    .filter(({ name }) => names.includes(name))
    .flatMap(({ manifest }) =>
      Object.entries(manifest['peerDependencies'] ?? {}).filter(
        ([peer]) => manifest['peerDependenciesMeta']?.[peer]?.optional !== true,
      ),
    )
  return [...new Set(peers.map(([peer, range]) => `${peer}@${range}`))]
}

/**
 * A compiler setting decides which entry is found, and a client where packages are; so all settings are tried where every
 * package is, and one with each set of packages.
 *
 * @returns {Parameters<typeof typeFaults>[1]['checks']}
 */
function typeChecks(/** @type {ClientName} */ client, /** @type {boolean} */ hasAll) {
  if (!isMain(client)) return []
  if (client !== 'npm' || !hasAll) return [['TypeScript 7', 'nodenext']]
  return [...ALL_SETTINGS.map((setting) => typescript7(setting)), ['TypeScript 5', 'nodenext']]
}

/** @returns {['TypeScript 7', import('./check-types.mjs').Setting]} */
const typescript7 = (/** @type {import('./check-types.mjs').Setting} */ setting) => ['TypeScript 7', setting]

/**
 * Imports the entries of an installed project and runs its programs.
 *
 * @param {Project} project
 * @param {{ place: string, node: string }} how
 * @returns {Promise<string[]>}
 */
export async function useProject(project, { place, node }) {
  const { entries, missingPeers = [], programs = [], bundled = [], suites = [] } = project
  const stranger = new StrangerProject(place, node)
  const faults = [...(await importFaults(stranger, entries)), ...(await missingPeerFaults(stranger, missingPeers))]
  for (const program of programs) await stranger.runNode([program.replace('.ts', '.mjs')])
  for (const program of bundled) await stranger.runNode([bundle(stranger, program)], { cwd: tmpdir() })
  for (const suite of suites) cpSync(join(root, 'docs/guides/code', suite), join(place, suite), { recursive: true })
  if (suites.length > 0) await stranger.runNode(['node_modules/vitest/vitest.mjs', 'run', '--silent'])
  return faults
}

/** Only what holds WASM and native files stays outside, and nothing can ask where its own file is. */
function bundle(/** @type {StrangerProject} */ { folder }, /** @type {string} */ program) {
  const outfile = join(folder, 'out', program.replace('.ts', '.mjs'))
  buildSync({
    stdin: {
      contents: readFileSync(join(root, 'tools/install/programs', program), 'utf8'),
      loader: 'ts',
      resolveDir: folder,
    },
    bundle: true,
    outfile,
    format: 'esm',
    platform: 'node',
    external: ['@electric-sql/pglite', 'postgres'],
    define: { 'import.meta.url': 'undefined', 'import.meta.dirname': 'undefined' },
    logLevel: 'error',
  })
  return outfile
}

/** As TypeScript for the type check, and as JavaScript because Node 20 runs nothing else. */
function writeProgram(/** @type {StrangerProject} */ project, /** @type {string} */ file) {
  const source = readFileSync(join(root, 'tools/install/programs', file), 'utf8')
  project.write(file, source.replaceAll(".ts'", ".js'"))
  const { code } = transformSync(source, { loader: 'ts', format: 'esm', target: 'node20' })
  project.write(file.replace('.ts', '.mjs'), code.replaceAll('.ts"', '.mjs"'))
}
