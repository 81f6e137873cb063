import { cpSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSync, transformSync } from 'esbuild'
import { root } from '../nx.mjs'
import { importFaults, missingPeerFaults } from './check-imports.mjs'
import { ALL_SETTINGS, typeFaults } from './check-types.mjs'
import { StrangerProject } from './stranger-project.mjs'

/** @typedef {import('./projects.mjs').Project} Project */
/** @typedef {import('./stranger-project.mjs').Client} Client */

const SHARED_SOURCES = ['chat-client.ts', 'scripted-model.ts']

/**
 * Installs a project and looks at what came along and how it type-checks.
 *
 * @param {Project} project
 * @param {{ place: string, client: Client, registry: string }} how
 * @returns {string[]}
 */
export function projectFaults({ name, install, entries, absent = [], programs = [] }, { place, client, registry }) {
  const project = StrangerProject.create(place, registry)
  project.install(client, install)
  const usesModel = programs.some((program) => /developer|operator/.test(program))
  const files = [...programs, ...(usesModel ? SHARED_SOURCES : [])]
  for (const file of files) writeProgram(project, file)
  const isAll = name === 'all together'
  // What pnpm could change is where packages are found, and that is the same for all settings.
  const settings = client === 'npm' ? ALL_SETTINGS : /** @type {const} */ (['nodenext'])
  const checks = settings.map((setting) => /** @type {['TypeScript 7', typeof setting]} */ (['TypeScript 7', setting]))
  return [
    ...absent.filter((other) => project.copiesOf(other).length > 0).map((other) => `${other} came along`),
    ...project.doubleCopies().map((other) => `${other} is there more than once`),
    ...typeFaults(project, { entries, files, checks: isAll ? [...checks, ['TypeScript 5', 'nodenext']] : checks }),
  ]
}

/**
 * Imports the entries of an installed project and runs its programs.
 *
 * @param {Project} project
 * @param {{ place: string, node: string }} how
 * @returns {string[]}
 */
export function useProject({ entries, missingPeers = [], programs = [], bundled = [], suites = [] }, { place, node }) {
  const project = new StrangerProject(place, node)
  const faults = [...importFaults(project, entries), ...missingPeerFaults(project, missingPeers)]
  for (const program of programs) project.runNode([program.replace('.ts', '.mjs')])
  for (const program of bundled) project.runNode([bundle(project, program)], { cwd: tmpdir() })
  for (const suite of suites) cpSync(join(root, 'docs/guides/code', suite), join(place, suite), { recursive: true })
  if (suites.length > 0) project.runNode(['node_modules/vitest/vitest.mjs', 'run', '--silent'])
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
