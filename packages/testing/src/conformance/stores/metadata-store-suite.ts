import assert from 'node:assert/strict'
import type { ConformanceSuite } from '../conformance-suite.ts'
import type { StoreSubject } from '../store-subject.ts'
import { ODD_IDS, refusesBadIds, refusesClosed } from './bad-input.ts'
import { rejectsWith } from './rejects-with.ts'
import { required } from './required.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'

const VALUES: readonly unknown[] = [
  { nested: { list: [1, 'two', null, { three: true }] } },
  ['a', 1],
  'text',
  '{"looks": "like JSON"}',
  '',
  0,
  -1.5,
  false,
  { nul: '\0', lone: '\ud800', literal: '\\u0000', emoji: '😀' },
  [],
  {},
]

const valueCases: readonly StoreCase[] = [
  storeCase('metadata.get.missing-is-null', 'get of a missing value is null', async ({ stores: { metadata } }) => {
    assert.equal(await metadata.get('namespace', 'nothing'), null)
  }),
  storeCase(
    'metadata.set.keeps-any-json',
    'any JSON value comes back as it was set',
    async ({ stores: { metadata } }) => {
      for (const [index, value] of VALUES.entries()) {
        await metadata.set('namespace', `key-${index}`, value)
        assert.deepEqual(await metadata.get('namespace', `key-${index}`), value)
      }
    },
  ),
  storeCase('metadata.set.replaces', 'set replaces the whole value', async ({ stores: { metadata } }) => {
    await metadata.set('namespace', 'key', { a: 1, b: 2 })
    await metadata.set('namespace', 'key', { a: 3 })
    assert.deepEqual(await metadata.get('namespace', 'key'), { a: 3 })
  }),
  storeCase('metadata.set.null', 'a stored null reads as null', async ({ stores: { metadata } }) => {
    await metadata.set('namespace', 'key', 1)
    await metadata.set('namespace', 'key', null)
    assert.equal(await metadata.get('namespace', 'key'), null)
  }),
  storeCase(
    'metadata.delete',
    'delete removes one value, and a missing one is fine',
    async ({ stores: { metadata } }) => {
      await metadata.set('namespace', 'key', 1)
      await metadata.set('namespace', 'other', 2)
      await metadata.delete('namespace', 'key')
      await metadata.delete('namespace', 'key')
      assert.equal(await metadata.get('namespace', 'key'), null)
      assert.equal(await metadata.get('namespace', 'other'), 2)
    },
  ),
  storeCase(
    'metadata.names-are-apart',
    'namespaces and keys are compared exactly and do not run together',
    async ({ stores: { metadata } }) => {
      for (const name of ODD_IDS) {
        await metadata.set(name, 'key', `namespace ${name}`)
        await metadata.set('namespace', name, `key ${name}`)
      }
      for (const name of ODD_IDS) {
        assert.equal(await metadata.get(name, 'key'), `namespace ${name}`)
        assert.equal(await metadata.get('namespace', name), `key ${name}`)
      }
      await metadata.set('a', 'b:c', 1)
      await metadata.set('a:b', 'c', 2)
      await metadata.set('a/b', 'c', 3)
      assert.equal(await metadata.get('a', 'b:c'), 1)
      assert.equal(await metadata.get('a', 'b/c'), null)
    },
  ),
  storeCase('metadata.copies', 'values are copies on the way in and out', async ({ stores: { metadata } }) => {
    const value = { list: ['as given'] }
    await metadata.set('namespace', 'key', value)
    value.list.push('changed after')
    const read = (await metadata.get('namespace', 'key')) as typeof value
    assert.deepEqual(read, { list: ['as given'] })
    read.list.push('changed by a reader')
    assert.deepEqual(await metadata.get('namespace', 'key'), { list: ['as given'] })
  }),
]

const inputCases: readonly StoreCase[] = [
  storeCase(
    'metadata.ids.bad-ones-are-refused',
    'malformed namespaces and keys are refused',
    async ({ stores: { metadata } }) => {
      await refusesBadIds({
        'get namespace': (namespace) => metadata.get(namespace, 'key'),
        'get key': (key) => metadata.get('namespace', key),
        'set namespace': (namespace) => metadata.set(namespace, 'key', 1),
        'set key': (key) => metadata.set('namespace', key, 1),
        'delete namespace': (namespace) => metadata.delete(namespace, 'key'),
        'delete key': (key) => metadata.delete('namespace', key),
      })
    },
  ),
  storeCase(
    'metadata.input.lossy-is-refused',
    'what JSON cannot keep is refused with INVALID_CHUNK and changes nothing',
    async ({ stores: { metadata } }) => {
      await metadata.set('namespace', 'key', 'before')
      for (const value of [Number.NaN, [Number.POSITIVE_INFINITY], 1n, () => 1, Symbol('x'), undefined, [undefined]]) {
        await rejectsWith('INVALID_CHUNK', () => metadata.set('namespace', 'key', value), String(typeof value))
      }
      assert.equal(await metadata.get('namespace', 'key'), 'before')
    },
  ),
  storeCase('metadata.closed', 'every call after close is refused with STORE_CLOSED', async ({ stores }) => {
    const { metadata } = stores
    await stores.close()
    await refusesClosed({
      get: () => metadata.get('namespace', 'key'),
      set: () => metadata.set('namespace', 'key', 1),
      delete: () => metadata.delete('namespace', 'key'),
    })
  }),
  storeCase(
    'metadata.reopened',
    'values outlive a close',
    async (subject) => {
      await subject.stores.metadata.set('namespace', 'key', VALUES)
      const { metadata } = await required(subject.reopen, 'reopen')()
      assert.deepEqual(await metadata.get('namespace', 'key'), VALUES)
    },
    ['reopen'],
  ),
]

/** The contract of `MetadataStore`. */
export const metadataStoreSuite: ConformanceSuite<StoreSubject> = {
  name: 'MetadataStore',
  cases: [...valueCases, ...inputCases],
}
