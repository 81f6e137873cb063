import assert from 'node:assert/strict'
import type { ThreadListInput, ThreadRecord, ThreadStore } from '@holdfast/core'
import type { ConformanceSuite } from '../conformance-suite.ts'
import type { StoreSubject } from '../store-subject.ts'
import { ODD_IDS, refusesBadArguments, refusesBadIds, refusesClosed } from './bad-input.ts'
import { hostAt, hostsOf } from './driver-subject.ts'
import { rejectsWith } from './rejects-with.ts'
import { required } from './required.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'
import { threadDeleteCases } from './thread-delete-cases.ts'
import { BAD_CURSORS, BAD_PAGE_LIMITS, walkPages } from './walk-pages.ts'

const OWNED = { threadId: 'thread-1', ownerId: 'owner-1' }

function pagesOf(threads: ThreadStore, input: ThreadListInput): Promise<ThreadRecord[][]> {
  return walkPages(async (page) => {
    const { threads: items, ...rest } = await threads.list({ ...input, ...page })
    return { items, ...rest }
  })
}

const idsOf = (records: readonly ThreadRecord[]): string[] => records.map(({ threadId }) => threadId)

const recordCases: readonly StoreCase[] = [
  storeCase(
    'thread.ensure.makes',
    "ensure makes the thread, timed by the store's clock",
    async ({ stores: { threads } }) => {
      const made = await threads.ensure({ ...OWNED, title: 'First' })
      assert.deepEqual(made, { ...OWNED, title: 'First', createdAt: made.createdAt, updatedAt: made.createdAt })
      assert.ok(Number.isFinite(made.createdAt))
      assert.deepEqual(await threads.find('thread-1'), made)
      const untitled = await threads.ensure({ threadId: 'thread-2', ownerId: 'owner-1' })
      assert.ok(!Object.hasOwn(untitled, 'title'))
    },
  ),
  storeCase(
    'thread.ensure.returns-an-existing-one',
    'ensure returns an existing thread unchanged',
    async ({ stores: { threads }, advance }) => {
      const made = await threads.ensure({ ...OWNED, title: 'First' })
      await advance(1_000)
      assert.deepEqual(await threads.ensure({ ...OWNED, title: 'Second' }), made)
      assert.deepEqual(await threads.ensure(OWNED), made)
    },
  ),
  storeCase(
    'thread.ensure.foreign',
    'ensure of a foreign thread is refused with THREAD_NOT_FOUND',
    async ({ stores: { threads } }) => {
      const made = await threads.ensure(OWNED)
      await rejectsWith('THREAD_NOT_FOUND', () => threads.ensure({ ...OWNED, ownerId: 'owner-2', title: 'Mine' }))
      assert.deepEqual(await threads.find('thread-1'), made)
    },
  ),
  storeCase(
    'thread.find',
    'find is null for a missing thread and for a foreign one',
    async ({ stores: { threads } }) => {
      const made = await threads.ensure(OWNED)
      assert.deepEqual(await threads.find('thread-1', 'owner-1'), made)
      assert.equal(await threads.find('thread-1', 'owner-2'), null)
      assert.equal(await threads.find('thread-2'), null)
      assert.equal(await threads.find('thread-2', 'owner-1'), null)
    },
  ),
  storeCase(
    'thread.rename',
    'rename sets title and updatedAt; an unknown thread is a no-op',
    async ({ stores: { threads }, advance }) => {
      const made = await threads.ensure(OWNED)
      await advance(1_000)
      await threads.rename('thread-1', 'Renamed')
      const renamed = required(await threads.find('thread-1'), 'the thread')
      assert.deepEqual(renamed, { ...made, title: 'Renamed', updatedAt: renamed.updatedAt })
      assert.ok(renamed.updatedAt >= made.updatedAt + 1_000)
      await threads.rename('nothing', 'Renamed')
      assert.equal(await threads.find('nothing'), null)
    },
  ),
  storeCase(
    'thread.touch',
    'touch moves updatedAt to now; an unknown thread is a no-op',
    async ({ stores: { threads }, advance }) => {
      const made = await threads.ensure({ ...OWNED, title: 'Kept' })
      await advance(1_000)
      await threads.touch('thread-1')
      const touched = required(await threads.find('thread-1'), 'the thread')
      assert.deepEqual(touched, { ...made, updatedAt: touched.updatedAt })
      assert.ok(touched.updatedAt >= made.updatedAt + 1_000)
      await threads.touch('nothing')
      assert.equal(await threads.find('nothing'), null)
    },
  ),
  storeCase('thread.copies', 'records are copies', async ({ stores: { threads } }) => {
    const made = await threads.ensure(OWNED)
    made.ownerId = 'changed by a reader'
    assert.equal((await threads.find('thread-1'))?.ownerId, 'owner-1')
  }),
]

const listCases: readonly StoreCase[] = [
  storeCase(
    'thread.list.newest-first',
    "list gives an owner's threads, the newest updatedAt first",
    async ({ stores: { threads }, advance }) => {
      for (const threadId of ['a', 'b', 'c']) {
        await threads.ensure({ threadId, ownerId: 'owner-1' })
        await advance(1_000)
      }
      await threads.ensure({ threadId: 'foreign', ownerId: 'owner-2' })
      await threads.touch('a')
      assert.deepEqual((await pagesOf(threads, { ownerId: 'owner-1' })).map(idsOf), [['a', 'c', 'b']])
      assert.deepEqual(await threads.list({ ownerId: 'nobody' }), { threads: [] })
    },
  ),
  storeCase('thread.list.pages', 'pages give every thread once, in order', async ({ stores: { threads }, advance }) => {
    const ids = ['g', 'f', 'e', 'd', 'c', 'b', 'a']
    for (const [index, threadId] of ids.entries()) {
      await threads.ensure({ threadId, ownerId: 'owner-1' })
      if (index % 3 !== 0) await advance(1_000)
    }
    const [whole] = await pagesOf(threads, { ownerId: 'owner-1', limit: 7 })
    const pages = await pagesOf(threads, { ownerId: 'owner-1', limit: 2 })
    assert.deepEqual(pages.flat(), whole)
    assert.deepEqual(idsOf(pages.flat()).toSorted(), ids.toSorted())
    assert.ok(pages.every((page) => page.length <= 2))
  }),
  storeCase(
    'thread.list.default-limit',
    'list gives 100 threads when no limit is given',
    async ({ stores: { threads } }) => {
      for (let index = 0; index < 101; index += 1)
        await threads.ensure({ threadId: `thread-${index}`, ownerId: 'owner-1' })
      assert.deepEqual(
        (await pagesOf(threads, { ownerId: 'owner-1' })).map(({ length }) => length),
        [100, 1],
      )
    },
  ),
]

const inputCases: readonly StoreCase[] = [
  storeCase(
    'thread.ids.odd-ones-are-kept-apart',
    'ids are compared exactly, whatever characters they have',
    async ({ stores: { threads } }) => {
      for (const id of ODD_IDS) await threads.ensure({ threadId: id, ownerId: id })
      for (const id of ODD_IDS) {
        assert.equal((await threads.find(id, id))?.threadId, id)
        assert.deepEqual(idsOf((await threads.list({ ownerId: id })).threads), [id])
      }
    },
  ),
  storeCase(
    'thread.title.is-exact-or-refused',
    'a title with NUL is kept exactly or refused, never changed',
    async ({ stores: { threads } }) => {
      for (const title of ['nul \0', 'lone \ud800']) {
        await threads.ensure(OWNED)
        try {
          await threads.rename('thread-1', title)
          assert.equal((await threads.find('thread-1'))?.title, title)
        } catch (error) {
          assert.equal(Reflect.get(Object(error), 'code'), 'INVALID_ARGUMENT')
        }
      }
    },
  ),
  storeCase(
    'thread.input.bad-ones-are-refused',
    'malformed ids, limits and cursors are refused',
    async ({ stores: { threads } }) => {
      await refusesBadIds({
        'ensure threadId': (threadId) => threads.ensure({ ...OWNED, threadId }),
        'ensure ownerId': (ownerId) => threads.ensure({ ...OWNED, ownerId }),
        'find threadId': (threadId) => threads.find(threadId),
        'find ownerId': (ownerId) => threads.find('thread-1', ownerId),
        list: (ownerId) => threads.list({ ownerId }),
        rename: (threadId) => threads.rename(threadId, 'title'),
        touch: (threadId) => threads.touch(threadId),
        delete: (threadId) => threads.delete(threadId),
      })
      const { ownerId } = OWNED
      await refusesBadArguments(BAD_PAGE_LIMITS, { limit: (limit) => threads.list({ ownerId, limit }) })
      await refusesBadArguments(BAD_CURSORS, { cursor: (cursor) => threads.list({ ownerId, cursor }) })
      assert.equal(await threads.find('thread-1'), null)
    },
  ),
  storeCase('thread.closed', 'every call after close is refused with STORE_CLOSED', async ({ stores }) => {
    const { threads } = stores
    await stores.close()
    await refusesClosed({
      ensure: () => threads.ensure(OWNED),
      find: () => threads.find('thread-1'),
      list: () => threads.list({ ownerId: 'owner-1' }),
      rename: () => threads.rename('thread-1', 'title'),
      touch: () => threads.touch('thread-1'),
      delete: () => threads.delete('thread-1'),
    })
  }),
  storeCase(
    'thread.reopened',
    'threads outlive a close',
    async (subject) => {
      const made = await subject.stores.threads.ensure({ ...OWNED, title: 'Kept' })
      assert.deepEqual(await (await required(subject.reopen, 'reopen')()).threads.find('thread-1'), made)
    },
    ['reopen'],
  ),
  storeCase(
    'thread.concurrent.one-owner',
    'of many owners that ensure one thread, one gets it',
    async (subject) => {
      const hosts = await hostsOf(subject, 4)
      const racing = Array.from({ length: 40 }, (_, index) =>
        hostAt(hosts, index).threads.ensure({ threadId: 'thread-1', ownerId: `owner-${index % 5}` }),
      )
      const owners = new Set<string>()
      for (const result of await Promise.allSettled(racing)) {
        if (result.status === 'fulfilled') owners.add(result.value.ownerId)
        else assert.equal(Reflect.get(Object(result.reason), 'code'), 'THREAD_NOT_FOUND')
      }
      assert.equal(owners.size, 1)
    },
    ['concurrent'],
  ),
]

/** The contract of `ThreadStore`. */
export const threadStoreSuite: ConformanceSuite<StoreSubject> = {
  name: 'ThreadStore',
  cases: [...recordCases, ...listCases, ...threadDeleteCases, ...inputCases],
}
