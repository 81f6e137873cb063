import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { removeAddressedLock, withAddresses, writeAddressedLock } from '../addressed-lock.mjs'

const REGISTRY = 'https://registry.test/npm/'
const addressOf = (/** @type {string} */ path, /** @type {import('../addressed-lock.mjs').Entry} */ entry) =>
  withAddresses({ packages: { [path]: entry } }, REGISTRY).packages[path]?.resolved

void test('a package of the registry gets its address, wherever it is installed', () => {
  const version = '1.2.3'
  assert.equal(addressOf('node_modules/a', { version }), 'https://registry.test/npm/a/-/a-1.2.3.tgz')
  assert.equal(addressOf('node_modules/@s/a', { version }), 'https://registry.test/npm/@s/a/-/a-1.2.3.tgz')
  assert.equal(addressOf('packages/x/node_modules/a', { version }), 'https://registry.test/npm/a/-/a-1.2.3.tgz')
  assert.equal(addressOf('node_modules/b/node_modules/@s/a', { version }), addressOf('node_modules/@s/a', { version }))
  assert.equal(addressOf('node_modules/alias', { version, name: '@s/a' }), addressOf('node_modules/@s/a', { version }))
})

void test('what does not come from the registry stays as it is', () => {
  assert.equal(addressOf('', { version: '1.2.3' }), undefined)
  assert.equal(addressOf('packages/x', { version: '1.2.3' }), undefined)
  assert.equal(addressOf('node_modules/x', { link: true, resolved: 'packages/x' }), 'packages/x')
  assert.equal(addressOf('node_modules/x', { version: '1.2.3', resolved: 'file:x.tgz' }), 'file:x.tgz')
})

void test('the lock that is committed is not touched, and the other one goes away', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-lock-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const committed = JSON.stringify({ packages: { 'node_modules/a': { version: '1.2.3' } } })
  writeFileSync(join(folder, 'package-lock.json'), committed)

  assert.equal(writeAddressedLock(folder), true)
  const written = JSON.parse(readFileSync(join(folder, 'npm-shrinkwrap.json'), 'utf8'))
  assert.match(written.packages['node_modules/a'].resolved, /^https?:\/\/.+\/a\/-\/a-1\.2\.3\.tgz$/)
  removeAddressedLock(folder)
  removeAddressedLock(folder)

  assert.equal(existsSync(join(folder, 'npm-shrinkwrap.json')), false)
  assert.equal(readFileSync(join(folder, 'package-lock.json'), 'utf8'), committed)
})
