import assert from 'node:assert/strict'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../folders.mjs'
import { contentFaults } from '../release/check-content.mjs'
import { disagreements, localRanges, manifestFaults } from '../release/check-manifest.mjs'

const manifest = JSON.parse(readFileSync(join(root, 'packages/middleware/package.json'), 'utf8'))
const pkg = (/** @type {object} */ changes = {}, folder = '') => {
  return { name: manifest.name, version: manifest.version, tarball: '', folder, manifest: { ...manifest, ...changes } }
}
const core = { ...pkg(), name: '@holdfast/core', version: manifest.version }
const faultsOf = (/** @type {object} */ changes) => manifestFaults(pkg(changes), [core]).join('\n')

void test('a manifest as it is has no fault', () => {
  assert.equal(faultsOf({}), '')
})

void test('a range that only this tree understands is found in every field', () => {
  for (const range of ['workspace:*', 'file:../core', 'link:../core', 'catalog:', '*']) {
    for (const field of ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'])
      assert.equal(localRanges({ [field]: { other: range } }).length, 1, `${field} ${range}`)
  }
})

void test('core and TanStack AI must be peers, in a range that the packed core is in', () => {
  assert.match(faultsOf({ dependencies: { '@holdfast/core': '^0.1.0' } }), /must be a peer/)
  assert.match(faultsOf({ peerDependencies: {} }), /missing from peerDependencies/)
  assert.match(faultsOf({ peerDependencies: { ...manifest.peerDependencies, '@holdfast/core': '^99.0.0' } }), /accept/)
})

void test('side effects, a third sub-path, an install script and missing metadata are found', () => {
  assert.match(faultsOf({ sideEffects: true }), /sideEffects/)
  assert.match(faultsOf({ exports: { '.': 1, './a': 1, './b': 1, './c': 1 } }), /sub-paths/)
  assert.match(faultsOf({ scripts: { postinstall: 'x' } }), /postinstall/)
  assert.match(faultsOf({ repository: undefined, publishConfig: {} }), /repository[\s\S]*provenance/)
})

void test('two packages that want one dependency differently are found', () => {
  const others = [pkg({ dependencies: { zod: '^4.0.0' } }), pkg({ dependencies: { zod: '^4.1.0' } })]
  assert.equal(disagreements(others).length, 1)
})

void test('a stray file, a path of this machine and undeclared or missing imports are found', () => {
  const folder = mkdtempSync(join(tmpdir(), 'release-checks-'))
  try {
    mkdirSync(join(folder, 'dist'))
    for (const file of ['README.md', 'LICENSE', 'CHANGELOG.md']) cpSync(join(root, 'LICENSE'), join(folder, file))
    writeFileSync(
      join(folder, 'dist/index.js'),
      `import 'left-pad'\nimport './gone.js'\nimport 'fs'\nexport const at = '${root}'`,
    )
    writeFileSync(join(folder, 'dist/index.test.js'), '')
    const faults = contentFaults(pkg({ exports: { '.': './dist/index.js' }, bin: './dist/cli.js' }, folder)).join('\n')
    for (const expected of [
      'index.test.js should not be packed',
      'cli.js is not packed',
      'imports left-pad, not declared',
      'gone.js, which is not packed',
      'imports fs without node:',
      'a path of this machine',
      'zod is declared and never imported',
    ])
      assert.ok(faults.includes(expected), `${expected}\n${faults}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
