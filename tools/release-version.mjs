// Turns changesets into versions and changelogs. Changesets makes a major version of every package whose peer leaves its
// range, and 0.2.0 leaves ^0.1.0; so the ranges are wide while it works, and name the new version afterwards.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './folders.mjs'
import { run } from './release/pack-packages.mjs'

const CORE = '@holdfast/core'

function setPeerRanges(/** @type {(coreVersion: string) => string} */ rangeOf) {
  const { version } = JSON.parse(readFileSync(join(root, 'packages/core/package.json'), 'utf8'))
  for (const directory of readdirSync(join(root, 'packages'))) {
    const path = join(root, 'packages', directory, 'package.json')
    const manifest = JSON.parse(readFileSync(path, 'utf8'))
    if (!manifest.peerDependencies?.[CORE]) continue
    manifest.peerDependencies[CORE] = rangeOf(version)
    writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`)
  }
}

setPeerRanges(() => '>=0.0.0')
try {
  console.log(run(process.execPath, [join(root, 'node_modules/@changesets/cli/bin.js'), 'version']))
} finally {
  setPeerRanges((version) => `^${version}`)
}
run('npm', ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund'])
