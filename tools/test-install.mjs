// Installs every package from a local registry, as strangers would, and uses it.
//   --client npm,pnpm   which clients (default npm, pnpm, yarn, bun)
//   --node 20,22,24     Node versions besides this one that must be able to import everything
//   --only "app developer"   one project, or another part by its title
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { installExtraTools } from './extra-tools.mjs'
import { getStartedFaults } from './guides/run-get-started.mjs'
import { exampleFaults } from './install/bundled-example.mjs'
import { nodeProgram } from './install/cached-package.mjs'
import { sizeFaults } from './install/check-sizes.mjs'
import { CLIENTS, findClient, isMain } from './install/clients.mjs'
import { startRegistry } from './install/local-registry.mjs'
import { PROJECTS } from './install/projects.mjs'
import { inTurns, Report } from './install/report.mjs'
import { projectFaults, useProject } from './install/try-project.mjs'
import { root } from './folders.mjs'
import { runNx } from './nx.mjs'
import { localRanges } from './release/check-manifest.mjs'
import { checkPackages } from './release/check-packages.mjs'
import { packPackages } from './release/pack-packages.mjs'
import { publish } from './release/publish.mjs'
import { runProgram } from './run-program.mjs'

/** @typedef {import('./install/clients.mjs').Client} Client */
/** @typedef {import('./install/projects.mjs').Project} Project */
/** @typedef {import('./release/pack-packages.mjs').PackedPackage} PackedPackage */
/** @typedef {{ folder: string, registry: string, packages: PackedPackage[] }} Published */

/** Most parts wait for a disk or a registry part of the time. */
const PARTS_AT_ONCE = 2

const { values } = parseArgs({
  options: {
    client: { type: 'string', default: CLIENTS.join(',') },
    node: { type: 'string', default: '20,22,24' },
    only: { type: 'string' },
  },
})
const isWanted = (/** @type {string} */ title) => values.only === undefined || values.only === title
const report = new Report()

/** A version as the registry tells it, which need not be what stands in the tarball. */
async function registryFaults(/** @type {string} */ url, /** @type {PackedPackage[]} */ packages) {
  const answers = packages.map(async ({ name, version }) => {
    /** @type {any} */
    const packument = await (await fetch(`${url}${name.replace('/', '%2f')}`)).json()
    const manifest = packument.versions?.[version]
    if (!manifest) return [`${name} ${version} is not in the registry`]
    return localRanges(manifest).map((fault) => `${name}: ${fault}`)
  })
  return (await Promise.all(answers)).flat()
}

async function tryProject(
  /** @type {Published} */ { folder, registry, packages },
  /** @type {Client} */ client,
  /** @type {Project} */ project,
) {
  const title = `${client.name}: ${project.name}`
  const place = join(folder, client.name, project.name.replaceAll(' ', '-'))
  await report.check(title, () => projectFaults(project, { place, client, registry, packages }))
  await report.check(`${title}, used`, () => useProject(project, { place, node: process.execPath }))
  if (project.name === 'all together' && client.name === 'npm') {
    await report.check('sizes', (note) => sizeFaults(place, note))
    for (const major of otherNodes()) await tryOnNode(major, project, place)
  }
  rmSync(place, { recursive: true, force: true })
}

function otherNodes() {
  const [own] = process.versions.node.split('.')
  return values.node.split(',').filter((major) => major !== '' && major !== own)
}

/** Every entry is imported; what it then does, this process's own Node shows. */
async function tryOnNode(/** @type {string} */ major, /** @type {Project} */ project, /** @type {string} */ place) {
  let node
  try {
    node = await nodeProgram(major)
  } catch (error) {
    report.skip(`Node ${major}`, `it cannot be had here: ${firstLine(error)}`)
    return
  }
  const { path, version } = node
  await report.check(`every entry on Node ${version}`, () =>
    useProject({ ...project, programs: [] }, { place, node: path }),
  )
}

const firstLine = (/** @type {unknown} */ error) =>
  String(error)
    .split('\n')
    .find((line) => line !== '')

async function clientJobs(/** @type {Published} */ published) {
  const jobs = []
  for (const name of CLIENTS.filter((client) => values.client.split(',').includes(client))) {
    try {
      const client = await findClient(name, published.folder)
      const projects = PROJECTS.filter((project) => isMain(name) || project.install.length === 1)
      const wanted = projects.filter((project) => isWanted(project.name))
      jobs.push(...wanted.map((project) => () => tryProject(published, client, project)))
    } catch (error) {
      report.skip(name, `it cannot be had here: ${firstLine(error)}`)
    }
  }
  return jobs
}

/** The long ones first, so that the short ones fill the gaps. */
async function allJobs(/** @type {Published} */ published) {
  const { folder, registry, packages } = published
  /** @type {[title: string, findFaults: import('./install/report.mjs').Check][]} */
  const others = [
    ['bundlers', (note) => exampleFaults(join(folder, 'bundled'), note)],
    ['get started', (note) => getStartedFaults({ folder: join(folder, 'get-started'), registry, note })],
    ['what would be published', () => checkPackages(packages)],
    ['API reference', () => runProgram(process.execPath, [join(root, 'tools/api-reference.mjs')]).then(() => [])],
  ]
  const jobs = others.map(([title, findFaults]) => ({ title, job: () => report.check(title, findFaults) }))
  return [...jobs.filter(({ title }) => isWanted(title)).map(({ job }) => job), ...(await clientJobs(published))]
}

async function main(/** @type {string} */ folder) {
  installExtraTools()
  const build = runNx(['run-many', '-t', 'build', '--projects=packages/*', '--outputStyle=static'], 'pipe')
  if (build.status !== 0) throw new Error(`The build failed.\n${build.stdout}${build.stderr}`)
  const packages = packPackages(join(folder, 'packed'))
  const registry = await startRegistry(join(folder, 'registry'))
  try {
    await report.check('publish to a local registry', () => {
      publish(packages, { registry: registry.url, userconfig: registry.userconfig, provenance: false })
      return registryFaults(registry.url, packages)
    })
    const jobs = await allJobs({ folder, registry: registry.url, packages })
    if (jobs.length === 0) throw new Error(`There is no part "${values.only}".`)
    await inTurns(jobs, PARTS_AT_ONCE)
  } finally {
    registry.stop()
  }
}

const folder = mkdtempSync(join(tmpdir(), 'holdfast-install-'))
try {
  await main(folder)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = report.end() ? 0 : 1
