import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../nx.mjs'
import { run } from './pack-packages.mjs'

/** @typedef {{ name: string, newVersion: string }} PlannedVersion */

/** Changesets that `npm run release:version` has not yet turned into versions. */
export function pendingChangesets() {
  return readdirSync(join(root, '.changeset')).filter((file) => file.endsWith('.md') && file !== 'README.md')
}

/**
 * What `npm run release:version` would make of the pending changesets.
 *
 * @returns {PlannedVersion[]}
 */
export function plannedVersions() {
  if (pendingChangesets().length === 0) return []
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-plan-'))
  try {
    const file = join(folder, 'plan.json')
    run(join(root, 'node_modules/.bin/changeset'), ['status', `--output=${file}`])
    return JSON.parse(readFileSync(file, 'utf8')).releases
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
