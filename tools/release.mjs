// Builds, packs and checks every package. With --dry it says what would be published and stops there; without, it
// publishes exactly the tarballs that were checked.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runNx } from './nx.mjs'
import { checkPackages } from './release/check-packages.mjs'
import { packPackages } from './release/pack-packages.mjs'
import { publish } from './release/publish.mjs'
import { publishedVersions } from './release/published-versions.mjs'
import { nextVersion, pendingChangesets } from './release/version-plan.mjs'

/** @typedef {import('./release/pack-packages.mjs').PackedPackage} PackedPackage */

const isDry = process.argv.includes('--dry')

function printPlan(/** @type {PackedPackage[]} */ packages, /** @type {Map<string, string[]>} */ published) {
  console.log('\nTo publish, in this order:')
  for (const { name, version, tarball } of packages) {
    const versions = published.get(name) ?? []
    const state = versions.includes(version) ? 'published before, left out' : versions.length === 0 ? 'new' : 'update'
    const size = `${(statSync(tarball).size / 1024).toFixed(0)} KiB`
    console.log(`  ${name.padEnd(28)} ${version.padEnd(10)} ${size.padStart(8)}  ${state}`)
  }
}

/** @returns {boolean} whether versions wait for `npm run release:version` */
function printPending(/** @type {string} */ version) {
  const pending = pendingChangesets()
  if (pending.length === 0) return false
  console.log(
    `\n${pending.length} changesets wait for npm run release:version, which would make ${nextVersion(version)}`,
  )
  return true
}

async function main(/** @type {string} */ folder) {
  const build = runNx(['run-many', '-t', 'build', '--projects=packages/*', '--outputStyle=static'], 'pipe')
  if (build.status !== 0) throw new Error(`The build failed.\n${build.stdout}${build.stderr}`)
  const packages = packPackages(folder)
  const faults = await checkPackages(packages)
  for (const fault of faults) console.error(fault)
  if (faults.length > 0) throw new Error(`${faults.length} faults: nothing can be published.`)

  const published = publishedVersions(packages)
  printPlan(packages, published)
  const isPending = printPending(packages[0]?.version ?? '')
  if (isDry) return console.log('\nNothing was published.')
  if (isPending) throw new Error('Run npm run release:version and commit first.')
  const isClean = spawnSync('git', ['status', '--porcelain'], { encoding: 'utf8' }).stdout === ''
  if (!isClean) throw new Error('The working tree has changes that are not committed.')
  publish(packages.filter(({ name, version }) => !published.get(name)?.includes(version)))
}

const folder = mkdtempSync(join(tmpdir(), 'holdfast-release-'))
try {
  await main(folder)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
