// Installs every package from a local registry, as strangers would, and uses it.
//   --client npm,pnpm   which clients (default both)
//   --node 22,24        Node versions besides this one
//   --only "app developer"   one project, or "get started" for the guide alone
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { installExtraTools } from './extra-tools.mjs'
import { getStartedFaults } from './guides/run-get-started.mjs'
import { sizeFaults } from './install/check-sizes.mjs'
import { nodeProgram } from './install/node-versions.mjs'
import { freePort, startRegistry } from './install/local-registry.mjs'
import { PROJECTS } from './install/projects.mjs'
import { projectFaults, useProject } from './install/try-project.mjs'
import { root, runNx } from './nx.mjs'
import { localRanges } from './release/check-manifest.mjs'
import { checkPackages } from './release/check-packages.mjs'
import { packPackages, run } from './release/pack-packages.mjs'
import { publish } from './release/publish.mjs'

/** @typedef {import('./install/stranger-project.mjs').Client} Client */

const { values } = parseArgs({
  options: {
    client: { type: 'string', default: 'npm,pnpm' },
    node: { type: 'string', default: '' },
    only: { type: 'string' },
  },
})
const clients = /** @type {Client[]} */ (values.client.split(','))
const versions = values.node.split(',').filter(Boolean)

let passed = 0
/** @type {string[]} */
const failures = []

async function check(/** @type {string} */ title, /** @type {() => string[] | Promise<string[]>} */ findFaults) {
  const startedAt = performance.now()
  let faults
  try {
    faults = await findFaults()
  } catch (error) {
    faults = [error instanceof Error ? error.message : String(error)]
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`${faults.length === 0 ? 'passed' : 'FAILED'}  ${title} (${seconds} s)`)
  for (const fault of faults) console.log(`        ${fault.replaceAll('\n', '\n        ')}`)
  if (faults.length === 0) passed += 1
  else failures.push(title)
}

/** A version as the registry tells it, which need not be what stands in the tarball. */
async function registryFaults(/** @type {string} */ url, /** @type {{ name: string, version: string }[]} */ packages) {
  const answers = packages.map(async ({ name, version }) => {
    /** @type {any} */
    const packument = await (await fetch(`${url}${name.replace('/', '%2f')}`)).json()
    const manifest = packument.versions?.[version]
    if (!manifest) return [`${name} ${version} is not in the registry`]
    return localRanges(manifest).map((fault) => `${name}: ${fault}`)
  })
  return (await Promise.all(answers)).flat()
}

async function main(/** @type {string} */ folder) {
  installExtraTools()
  const build = runNx(['run-many', '-t', 'build', '--projects=packages/*', '--outputStyle=static'], 'pipe')
  if (build.status !== 0) throw new Error(`The build failed.\n${build.stdout}${build.stderr}`)
  const packages = packPackages(join(folder, 'packed'))
  await check('what would be published', () => checkPackages(packages))

  const registry = await startRegistry(join(folder, 'registry'))
  try {
    await check('publish to a local registry', () => {
      publish(packages, { registry: registry.url, userconfig: registry.userconfig, provenance: false })
      return registryFaults(registry.url, packages)
    })
    const nodes = [{ version: process.version, path: process.execPath }, ...versions.map(nodeProgram)]
    for (const client of clients) {
      for (const project of PROJECTS.filter(({ name }) => !values.only || name === values.only)) {
        const place = join(folder, client, project.name.replaceAll(' ', '-'))
        await check(`${client}: ${project.name}`, () =>
          projectFaults(project, { place, client, registry: registry.url }),
        )
        for (const node of nodes)
          await check(`  on ${node.version}`, () => useProject(project, { place, node: node.path }))
        if (project.name === 'all together' && client === clients[0]) await check('  sizes', () => sizeFaults(place))
        else rmSync(place, { recursive: true, force: true })
      }
    }
    if (!values.only || values.only === 'get started') {
      const place = join(folder, 'get-started')
      const port = await freePort()
      await check('docs/guides/get-started.md', () => getStartedFaults({ folder: place, registry: registry.url, port }))
    }
    if (!values.only) {
      await check('API reference', () => {
        run(process.execPath, [join(root, 'tools/api-reference.mjs')])
        return []
      })
    }
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
console.log(`\n${passed} passed, ${failures.length} failed`)
process.exitCode = failures.length > 0 ? 1 : 0
