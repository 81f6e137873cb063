import assert from 'node:assert/strict'
import type { BlobListInput, BlobRecord, BlobStore } from '@holdfast/core'
import type { ConformanceSuite } from '../conformance-suite.ts'
import { assertSameBytes } from '../same-bytes.ts'
import type { StoreSubject } from '../store-subject.ts'
import { ODD_IDS, refusesBadArguments, refusesBadIds, refusesClosed } from './bad-input.ts'
import { assertNoBlob, byteStream, bytesOf, patternBytes, sha256, streamedBytes } from './blob-bytes.ts'
import { blobPutCases } from './blob-put-cases.ts'
import { hostAt, hostsOf } from './driver-subject.ts'
import { required } from './required.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'
import { BAD_CURSORS, BAD_PAGE_LIMITS, walkPages } from './walk-pages.ts'

const SIZE = 300_000

function pagesOf(blobs: BlobStore, input: BlobListInput): Promise<BlobRecord[][]> {
  return walkPages(async (page) => {
    const { objects, cursor, truncated } = await blobs.list({ ...input, ...page })
    assert.equal(truncated ?? false, cursor !== undefined, 'truncated says whether there is more')
    return { items: objects, cursor }
  })
}

const keysOf = (records: readonly BlobRecord[]): string[] => records.map(({ key }) => key)

const getCases: readonly StoreCase[] = [
  storeCase('blob.get.missing-is-null', 'get and head of a missing key are null', async ({ stores: { blobs } }) => {
    assert.equal(await blobs.get('nothing'), null)
    assert.equal(await blobs.head('nothing'), null)
  }),
  storeCase(
    'blob.get.whole',
    'get gives the record and all bytes, streamed or at once, and no range',
    async ({ stores: { blobs } }) => {
      const record = await blobs.put('key', patternBytes(SIZE), { contentType: 'a/b' })
      const read = required(await blobs.get('key'), 'the blob')
      assertSameBytes(await bytesOf(read), patternBytes(SIZE))
      const { body: _body, arrayBuffer: _arrayBuffer, text: _text, ...rest } = read
      assert.deepEqual(rest, record)
      assertSameBytes(await streamedBytes(required(await blobs.get('key'), 'the blob')), patternBytes(SIZE))
    },
  ),
  storeCase(
    'blob.get.ranges',
    'get gives the asked range, cut at the end, and nothing beyond it',
    async ({ stores: { blobs } }) => {
      const bytes = patternBytes(SIZE)
      await blobs.put('key', bytes)
      const ranges = [
        [0, 1],
        [1, 10],
        [65_535, 2],
        [SIZE - 1, 1],
        [SIZE - 5, 100],
        [SIZE, 1],
        [SIZE + 5, 10],
        [10, 0],
      ] as const
      for (const [offset, length] of ranges) {
        const read = required(await blobs.get('key', { range: { offset, length } }), 'the blob')
        assert.equal(read.size, SIZE, 'size is that of the whole')
        assert.equal(read.range?.length, bytes.slice(offset, offset + length).length, `${offset}+${length}`)
        assertSameBytes(await bytesOf(read), bytes.slice(offset, offset + length), `${offset}+${length}`)
      }
      const rest = required(await blobs.get('key', { range: { offset: 100_000 } }), 'the blob')
      assert.deepEqual(rest.range, { offset: 100_000, length: SIZE - 100_000 })
      assertSameBytes(await streamedBytes(rest), bytes.slice(100_000))
    },
  ),
  storeCase('blob.get.empty', 'an empty blob is a blob', async ({ stores: { blobs } }) => {
    await blobs.put('key', new Uint8Array())
    const read = required(await blobs.get('key'), 'the blob')
    assert.equal(read.size, 0)
    assert.equal(await read.text(), '')
  }),
  storeCase(
    'blob.head-many',
    'headMany gives the records of the keys that exist',
    async ({ stores: { blobs } }) => {
      const headMany = required(blobs.headMany, 'headMany').bind(blobs)
      for (const key of ['a', 'b', "it's"]) await blobs.put(key, key)
      const found = await headMany(['a', "it's", 'nothing', 'a'])
      assert.deepEqual([...found.keys()].toSorted(), ['a', "it's"])
      assert.deepEqual(found.get('a'), await blobs.head('a'))
      assert.equal((await headMany([])).size, 0)
      const many = Array.from({ length: 3_000 }, (_, index) => `key-${index}`)
      assert.deepEqual([...(await headMany([...many, 'b'])).keys()], ['b'])
    },
    ['blobs.headMany'],
  ),
  storeCase('blob.delete', 'delete removes one blob, and a missing one is fine', async ({ stores: { blobs } }) => {
    await blobs.put('key', patternBytes(SIZE))
    await blobs.put('key-2', 'stays')
    await blobs.delete('key')
    await blobs.delete('key')
    assertNoBlob(await blobs.get('key'))
    assert.deepEqual(keysOf((await blobs.list()).objects), ['key-2'])
  }),
]

const listCases: readonly StoreCase[] = [
  storeCase('blob.list.order', 'list is by key in UTF-8 byte order', async ({ stores: { blobs } }) => {
    const ordered = [' ', 'B', 'a', 'a/b', 'aa', 'é', '\ufffd', '😀']
    for (const key of ordered.toReversed()) await blobs.put(key, key)
    assert.deepEqual((await pagesOf(blobs, {})).map(keysOf), [ordered])
  }),
  storeCase(
    'blob.list.prefix',
    'list gives only keys that begin with the prefix, taken literally',
    async ({ stores: { blobs } }) => {
      for (const key of ['a%b/1', 'a%b/2', 'aXb/3', 'a_b/4', 'A%b/5', '*']) await blobs.put(key, key)
      const keys = async (prefix: string) => keysOf((await pagesOf(blobs, { prefix, limit: 1 })).flat())
      assert.deepEqual(await keys('a%b/'), ['a%b/1', 'a%b/2'])
      assert.deepEqual(await keys('a_b'), ['a_b/4'])
      assert.deepEqual(await keys('*'), ['*'])
      assert.deepEqual(await keys('nothing'), [])
      assert.equal((await keys('')).length, 6)
    },
  ),
  storeCase('blob.list.pages', 'pages give every key once, in order', async ({ stores: { blobs } }) => {
    const keys = ['\ufffd', '😀', 'B', 'a', 'b', 'c', 'é']
    for (const key of keys) await blobs.put(key, key)
    const pages = await pagesOf(blobs, { limit: 2 })
    assert.deepEqual(pages.flatMap(keysOf), ['B', 'a', 'b', 'c', 'é', '\ufffd', '😀'])
    assert.ok(pages.every((page) => page.length <= 2))
    assert.deepEqual(pages.flat()[0], await blobs.head('B'))
  }),
]

const inputCases: readonly StoreCase[] = [
  storeCase(
    'blob.keys.odd-ones-are-kept-apart',
    'keys are compared exactly, whatever characters they have',
    async ({ stores: { blobs } }) => {
      for (const key of ODD_IDS) await blobs.put(key, key)
      for (const key of ODD_IDS) assert.equal(await required(await blobs.get(key), key).text(), key)
    },
  ),
  storeCase(
    'blob.input.bad-ones-are-refused',
    'malformed keys, ranges, limits and cursors are refused',
    async ({ stores: { blobs } }) => {
      await refusesBadIds({
        put: (key) => blobs.put(key, 'text'),
        get: (key) => blobs.get(key),
        head: (key) => blobs.head(key),
        delete: (key) => blobs.delete(key),
      })
      await blobs.put('key', 'text')
      const bad = [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]
      await refusesBadArguments(bad, {
        'range offset': (offset) => blobs.get('key', { range: { offset } }),
        'range length': (length) => blobs.get('key', { range: { offset: 0, length } }),
      })
      await refusesBadArguments(BAD_PAGE_LIMITS, { limit: (limit) => blobs.list({ limit }) })
      await refusesBadArguments(BAD_CURSORS, { cursor: (cursor) => blobs.list({ cursor }) })
    },
  ),
  storeCase('blob.closed', 'every call after close is refused with STORE_CLOSED', async ({ stores }) => {
    const { blobs } = stores
    await stores.close()
    await refusesClosed({
      put: () => blobs.put('key', 'text'),
      get: () => blobs.get('key'),
      head: () => blobs.head('key'),
      delete: () => blobs.delete('key'),
      list: () => blobs.list(),
    })
  }),
  storeCase(
    'blob.reopened',
    'bytes outlive a close',
    async (subject) => {
      const record = await subject.stores.blobs.put('key', patternBytes(SIZE), { customMetadata: { a: 'b' } })
      const { blobs } = await required(subject.reopen, 'reopen')()
      assert.deepEqual(await blobs.head('key'), record)
      assertSameBytes(await bytesOf(required(await blobs.get('key'), 'the blob')), patternBytes(SIZE))
    },
    ['reopen'],
  ),
  storeCase(
    'blob.concurrent.whole-or-none',
    'a reader sees one whole blob while several hosts replace it',
    async (subject) => {
      const hosts = await hostsOf(subject, 4)
      const body = (writer: number) => new Uint8Array(100_000 + writer).fill(writer)
      await subject.stores.blobs.put('key', body(0))
      const writing = Array.from({ length: 8 }, async (_, writer) => {
        for (let round = 0; round < 5; round += 1) {
          await hostAt(hosts, writer).blobs.put('key', byteStream(body(writer), 1))
        }
      })
      const reading = Array.from({ length: 8 }, async (_, reader) => {
        for (let round = 0; round < 10; round += 1) {
          const read = required(await hostAt(hosts, reader).blobs.get('key'), 'the blob')
          const bytes = await bytesOf(read)
          assert.equal(sha256(bytes), sha256(body(bytes.length - 100_000)), 'the bytes are of one writer')
          assert.equal(read.etag, sha256(bytes), 'the record is that of the bytes')
        }
      })
      await Promise.all([...writing, ...reading])
    },
    ['concurrent'],
  ),
]

function needsBlobs(testCase: StoreCase): StoreCase {
  return { ...testCase, needs: ['blobs', ...(testCase.needs ?? [])] }
}

/** The contract of `BlobStore`. */
export const blobStoreSuite: ConformanceSuite<StoreSubject> = {
  name: 'BlobStore',
  cases: [...blobPutCases, ...getCases, ...listCases, ...inputCases].map(needsBlobs),
}
