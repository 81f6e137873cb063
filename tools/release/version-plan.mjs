import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../folders.mjs'

const KINDS = /** @type {const} */ (['patch', 'minor', 'major'])

/** Changesets that `npm run release:version` has not yet turned into versions. */
export function pendingChangesets() {
  return readdirSync(join(root, '.changeset')).filter((file) => file.endsWith('.md') && file !== 'README.md')
}

/** The version that `npm run release:version` gives every package: they have one version, and the largest change decides. */
export function nextVersion(/** @type {string} */ version) {
  const texts = pendingChangesets().map((file) => readFileSync(join(root, '.changeset', file), 'utf8'))
  const kinds = texts.flatMap((text) => [...text.matchAll(/^['"]@holdfast\/[^:]+: (patch|minor|major)$/gm)])
  const largest = Math.max(...kinds.map(([, kind]) => KINDS.indexOf(/** @type {typeof KINDS[number]} */ (kind))))
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  if (largest === 2) return `${major + 1}.0.0`
  return largest === 1 ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`
}
