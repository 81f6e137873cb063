import assert from 'node:assert/strict'
import type { SandboxInstanceListInput, SandboxInstanceRecord, SandboxInstanceStore } from '@holdfast/core'
import type { ConformanceSuite } from '../conformance-suite.ts'
import type { StoreSubject } from '../store-subject.ts'
import { BAD_TIMES, ODD_IDS, refusesBadArguments, refusesBadIds, refusesClosed } from './bad-input.ts'
import { required } from './required.ts'
import { rejectsWith } from './rejects-with.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'
import { BAD_CURSORS, BAD_PAGE_LIMITS, walkPages } from './walk-pages.ts'

const MINIMAL: SandboxInstanceRecord = {
  key: 'key-1',
  provider: 'process',
  providerSandboxId: 'sandbox-1',
  threadId: 'thread-1',
  updatedAt: 1_000,
}

const FULL: SandboxInstanceRecord = {
  ...MINIMAL,
  latestSnapshotId: 'snapshot-1',
  latestRunId: 'run-1',
  state: 'ready',
  labels: { owner: 'a "quoted" one', '': 'empty name', __proto__x: 'odd' },
}

function pagesOf(instances: SandboxInstanceStore, input: SandboxInstanceListInput): Promise<SandboxInstanceRecord[][]> {
  const list = required(instances.list, 'list').bind(instances)
  return walkPages(async (page) => {
    const { records, ...rest } = await list({ ...input, ...page })
    return { items: records, ...rest }
  })
}

const keysOf = (records: readonly SandboxInstanceRecord[]): string[] => records.map(({ key }) => key)

async function storeMany(
  instances: SandboxInstanceStore,
  records: readonly Partial<SandboxInstanceRecord>[],
): Promise<void> {
  for (const record of records) await instances.upsert({ ...MINIMAL, ...record })
}

const recordCases: readonly StoreCase[] = [
  storeCase('instance.get.missing-is-null', 'get of a missing key is null', async ({ stores: { instances } }) => {
    assert.equal(await instances.get('nothing'), null)
  }),
  storeCase(
    'instance.upsert.keeps-every-field',
    'upsert stores every field and adds none',
    async ({ stores: { instances } }) => {
      await instances.upsert(FULL)
      assert.deepEqual(await instances.get('key-1'), FULL)
      await instances.upsert({ ...MINIMAL, key: 'key-2' })
      assert.deepEqual(await instances.get('key-2'), { ...MINIMAL, key: 'key-2' })
    },
  ),
  storeCase(
    'instance.upsert.replaces-all',
    'upsert clears optional fields that are left out, and they are absent',
    async ({ stores: { instances } }) => {
      await instances.upsert(FULL)
      await instances.upsert(MINIMAL)
      assert.deepEqual(await instances.get('key-1'), MINIMAL)
      await instances.upsert({ ...FULL, labels: {} })
      assert.deepEqual(await instances.get('key-1'), { ...FULL, labels: {} })
    },
  ),
  storeCase(
    'instance.upsert.repeatable',
    'upsert of the same record again changes nothing',
    async ({ stores: { instances } }) => {
      await instances.upsert(FULL)
      await instances.upsert(FULL)
      assert.deepEqual(await instances.get('key-1'), FULL)
    },
  ),
  storeCase('instance.states', 'every state is kept', async ({ stores: { instances } }) => {
    for (const state of ['intent', 'ready', 'condemned'] as const) {
      await instances.upsert({ ...MINIMAL, state })
      assert.equal((await instances.get('key-1'))?.state, state)
    }
  }),
  storeCase(
    'instance.delete',
    'delete removes one record, and a missing key is fine',
    async ({ stores: { instances } }) => {
      await storeMany(instances, [{ key: 'key-1' }, { key: 'key-2' }])
      await instances.delete('key-1')
      await instances.delete('key-1')
      assert.equal(await instances.get('key-1'), null)
      assert.equal((await instances.get('key-2'))?.key, 'key-2')
    },
  ),
  storeCase('instance.copies', 'records are copies on the way in and out', async ({ stores: { instances } }) => {
    const labels: Record<string, string> = { name: 'as given' }
    await instances.upsert({ ...FULL, labels })
    labels['name'] = 'changed after'
    const read = required(await instances.get('key-1'), 'the record')
    assert.deepEqual(read.labels, { name: 'as given' })
    Reflect.set(read.labels ?? {}, 'name', 'changed by a reader')
    read.provider = 'changed by a reader'
    assert.deepEqual(await instances.get('key-1'), { ...FULL, labels: { name: 'as given' } })
  }),
]

const listCases: readonly StoreCase[] = [
  storeCase(
    'instance.list.order',
    'list gives the oldest updatedAt first, then by key',
    async ({ stores: { instances } }) => {
      await storeMany(instances, [
        { key: 'c', updatedAt: 10_000 },
        { key: 'b', updatedAt: 900 },
        { key: 'a', updatedAt: 2_000 },
        { key: 'B', updatedAt: 900 },
      ])
      const [page] = await pagesOf(instances, {})
      assert.deepEqual(keysOf(page ?? []), ['B', 'b', 'a', 'c'])
      await instances.upsert({ ...MINIMAL, key: 'b', updatedAt: 20_000 })
      assert.deepEqual(keysOf((await pagesOf(instances, {}))[0] ?? []), ['B', 'a', 'c', 'b'])
    },
    ['instances.list'],
  ),
  storeCase(
    'instance.list.filters',
    'list gives only what matches provider, thread and before',
    async ({ stores: { instances } }) => {
      await storeMany(instances, [
        { key: 'a', provider: 'one', threadId: 'x', updatedAt: 1 },
        { key: 'b', provider: 'two', threadId: 'x', updatedAt: 2 },
        { key: 'c', provider: 'one', threadId: 'y', updatedAt: 3 },
      ])
      const keys = async (input: SandboxInstanceListInput) => keysOf((await pagesOf(instances, input)).flat())
      assert.deepEqual(await keys({ provider: 'one' }), ['a', 'c'])
      assert.deepEqual(await keys({ threadId: 'x' }), ['a', 'b'])
      assert.deepEqual(await keys({ provider: 'one', threadId: 'x' }), ['a'])
      assert.deepEqual(await keys({ before: 3 }), ['a', 'b'])
      assert.deepEqual(await keys({ before: 1 }), [])
      assert.deepEqual(await keys({ provider: 'on' }), [])
    },
    ['instances.list'],
  ),
  storeCase(
    'instance.list.state',
    'list gives the records of one state, and one without a state is ready',
    async ({ stores: { instances } }) => {
      await storeMany(instances, [
        { key: 'a', state: 'intent', threadId: 'x' },
        { key: 'b', state: 'condemned', threadId: 'x' },
        { key: 'c', state: 'ready', threadId: 'y' },
        { key: 'd', threadId: 'y' },
      ])
      const keys = async (input: SandboxInstanceListInput) => keysOf((await pagesOf(instances, input)).flat())
      assert.deepEqual(await keys({ state: 'intent' }), ['a'])
      assert.deepEqual(await keys({ state: 'ready' }), ['c', 'd'])
      assert.deepEqual(await keys({ state: 'condemned', threadId: 'x' }), ['b'])
      assert.deepEqual(await keys({ state: 'condemned', threadId: 'y' }), [])
      const list = required(instances.list, 'list').bind(instances)
      await rejectsWith('INVALID_ARGUMENT', () => list({ state: 'gone' as 'ready' }), 'an unknown state')
    },
    ['instances.list'],
  ),
  storeCase(
    'instance.list.pages',
    'pages give every record once, in order',
    async ({ stores: { instances } }) => {
      const records = Array.from({ length: 7 }, (_, index) => ({ key: `key-${index}`, updatedAt: index < 4 ? 5 : 6 }))
      await storeMany(instances, records.toReversed())
      const pages = await pagesOf(instances, { limit: 2, provider: 'process' })
      assert.deepEqual(
        pages.flatMap(keysOf),
        records.map(({ key }) => key),
      )
      assert.ok(pages.every((page) => page.length <= 2))
      const whole = await required(instances.list, 'list').call(instances, { limit: 7 })
      assert.ok(!Object.hasOwn(whole, 'cursor'), 'a last page has no cursor')
    },
    ['instances.list'],
  ),
  storeCase(
    'instance.list.default-limit',
    'list gives 100 records when no limit is given',
    async ({ stores: { instances } }) => {
      await storeMany(
        instances,
        Array.from({ length: 101 }, (_, index) => ({ key: `key-${index}` })),
      )
      assert.deepEqual(
        (await pagesOf(instances, {})).map(({ length }) => length),
        [100, 1],
      )
    },
    ['instances.list'],
  ),
  storeCase(
    'instance.list.bad-input-is-refused',
    'list refuses malformed filters, limits and cursors',
    async ({ stores: { instances } }) => {
      const list = required(instances.list, 'list').bind(instances)
      await refusesBadIds({ provider: (provider) => list({ provider }), threadId: (threadId) => list({ threadId }) })
      await refusesBadArguments(BAD_TIMES, { before: (before) => list({ before }) })
      await refusesBadArguments(BAD_PAGE_LIMITS, { limit: (limit) => list({ limit }) })
      await refusesBadArguments(BAD_CURSORS, { cursor: (cursor) => list({ cursor }) })
    },
    ['instances.list'],
  ),
]

const inputCases: readonly StoreCase[] = [
  storeCase(
    'instance.ids.odd-ones-are-kept-apart',
    'keys are compared exactly, whatever characters they have',
    async ({ stores: { instances } }) => {
      for (const key of ODD_IDS) await instances.upsert({ ...MINIMAL, key, threadId: key })
      for (const key of ODD_IDS) assert.deepEqual(await instances.get(key), { ...MINIMAL, key, threadId: key })
    },
  ),
  storeCase(
    'instance.ids.bad-ones-are-refused',
    'malformed ids and times are refused, and nothing is stored',
    async ({ stores: { instances } }) => {
      await refusesBadIds({
        get: (key) => instances.get(key),
        delete: (key) => instances.delete(key),
        'upsert key': (key) => instances.upsert({ ...MINIMAL, key }),
        'upsert provider': (provider) => instances.upsert({ ...MINIMAL, provider }),
        'upsert providerSandboxId': (providerSandboxId) => instances.upsert({ ...MINIMAL, providerSandboxId }),
        'upsert threadId': (threadId) => instances.upsert({ ...MINIMAL, threadId }),
        'upsert latestRunId': (latestRunId) => instances.upsert({ ...MINIMAL, latestRunId }),
        'upsert latestSnapshotId': (latestSnapshotId) => instances.upsert({ ...MINIMAL, latestSnapshotId }),
      })
      await refusesBadArguments(BAD_TIMES, { updatedAt: (updatedAt) => instances.upsert({ ...MINIMAL, updatedAt }) })
      const state = 'gone' as 'ready'
      await rejectsWith('INVALID_ARGUMENT', () => instances.upsert({ ...MINIMAL, state }), 'an unknown state')
      assert.equal(await instances.get('key-1'), null)
    },
  ),
  storeCase('instance.closed', 'every call after close is refused with STORE_CLOSED', async ({ stores }) => {
    const { instances } = stores
    await stores.close()
    await refusesClosed({
      get: () => instances.get('key-1'),
      upsert: () => instances.upsert(MINIMAL),
      delete: () => instances.delete('key-1'),
    })
  }),
  storeCase(
    'instance.reopened',
    'records outlive a close',
    async (subject) => {
      await subject.stores.instances.upsert(FULL)
      assert.deepEqual(await (await required(subject.reopen, 'reopen')()).instances.get('key-1'), FULL)
    },
    ['reopen'],
  ),
]

/** The contract of `SandboxInstanceStore`. */
export const instanceStoreSuite: ConformanceSuite<StoreSubject> = {
  name: 'SandboxInstanceStore',
  cases: [...recordCases, ...listCases, ...inputCases],
}
