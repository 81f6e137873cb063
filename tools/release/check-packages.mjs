import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../folders.mjs'
import { contentFaults } from './check-content.mjs'
import { disagreements, manifestFaults } from './check-manifest.mjs'
import { tryProgram } from '../run-program.mjs'

/** @typedef {import('./pack-packages.mjs').PackedPackage} PackedPackage */

/**
 * Everything that is wrong with what would be published, one sentence a fault.
 *
 * @param {PackedPackage[]} packages
 */
export async function checkPackages(packages) {
  const faults = [...disagreements(packages)]
  for (const pkg of packages) {
    const own = [
      ...manifestFaults(pkg, packages),
      ...contentFaults(pkg),
      ...changelogFaults(pkg),
      ...(await publintFaults(pkg)),
      ...(await attwFaults(pkg)),
    ]
    faults.push(...own.map((fault) => `${pkg.name}: ${fault}`))
    console.log(`${own.length === 0 ? 'checked' : 'FAULTY '}  ${pkg.name}`)
  }
  return faults
}

function changelogFaults(/** @type {PackedPackage} */ { folder, version }) {
  const text = readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')
  return text.includes(`\n## ${version}\n`) ? [] : [`CHANGELOG.md says nothing about ${version}`]
}

async function publintFaults(/** @type {PackedPackage} */ { folder, manifest }) {
  const { publint } = await import('publint')
  const { formatMessage } = await import('publint/utils')
  const { messages } = await publint({ pkgDir: folder, pack: false, strict: true })
  return messages.map((message) => `publint: ${formatMessage(message, manifest, { color: false })}`)
}

async function attwFaults(/** @type {PackedPackage} */ { tarball }) {
  const attw = join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js')
  const { status, stdout, stderr } = await tryProgram(process.execPath, [attw, tarball, ...ATTW_OPTIONS])
  return status === 0 ? [] : [`attw ended with ${status}: ${stdout}${stderr}`]
}

const ATTW_OPTIONS = ['--profile', 'esm-only', '--format', 'ascii', '--no-color']
