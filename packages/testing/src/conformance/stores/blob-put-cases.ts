import assert from 'node:assert/strict'
import type { BlobBody } from '@holdfast/core'
import { assertSameBytes } from '../same-bytes.ts'
import { assertNoBlob, byteStream, bytesOf, patternBytes, sha256 } from './blob-bytes.ts'
import { rejectsWith } from './rejects-with.ts'
import { required } from './required.ts'
import { meanwhile } from './soon.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'

const TEXT = 'ä😀\0 text'
const MIB = 1024 * 1024

export const blobPutCases: readonly StoreCase[] = [
  storeCase(
    'blob.put.record',
    'put answers the record: size, hash, time and what was given',
    async ({ stores: { blobs } }) => {
      const options = { contentType: 'text/plain', customMetadata: { name: 'a "quoted" one', '': '' } }
      const record = await blobs.put('key', TEXT, options)
      const { createdAt, ...rest } = record
      assert.deepEqual(rest, { key: 'key', size: Buffer.byteLength(TEXT), etag: sha256(TEXT), ...options })
      assert.ok(Number.isFinite(createdAt))
      assert.deepEqual(await blobs.head('key'), record)
      const { createdAt: _createdAt, ...bare } = await blobs.put('bare', '')
      assert.deepEqual(bare, { key: 'bare', size: 0, etag: sha256('') })
    },
  ),
  storeCase(
    'blob.put.every-body',
    'put takes a stream, a buffer, a view, a string and a Blob',
    async ({ stores: { blobs } }) => {
      const bytes = patternBytes(1_000)
      const padded = new Uint8Array([9, ...bytes, 9])
      const bodies: Record<string, BlobBody> = {
        stream: byteStream(bytes.slice(0, 100), 10),
        buffer: bytes.slice().buffer,
        view: padded.subarray(1, 1_001),
        'data view': new DataView(padded.buffer, 1, 1_000),
        blob: new Blob([bytes]),
      }
      for (const [name, body] of Object.entries(bodies)) await blobs.put(name, body)
      for (const name of ['buffer', 'view', 'data view', 'blob']) {
        assertSameBytes(await bytesOf(required(await blobs.get(name), name)), bytes, name)
      }
      assert.equal((await blobs.head('stream'))?.size, 1_000)
      await blobs.put('string', TEXT)
      assert.equal(await required(await blobs.get('string'), 'the blob').text(), TEXT)
    },
  ),
  storeCase(
    'blob.put.replaces',
    'put replaces bytes and record, and may be repeated',
    async ({ stores: { blobs } }) => {
      await blobs.put('key', patternBytes(10_000), { contentType: 'a/b', customMetadata: { a: 'b' } })
      await blobs.put('key', 'short')
      await blobs.put('key', 'short')
      const read = required(await blobs.get('key'), 'the blob')
      assert.equal(await read.text(), 'short')
      assert.ok(!Object.hasOwn(read, 'contentType') && !Object.hasOwn(read, 'customMetadata'))
    },
  ),
  storeCase('blob.put.large', 'a large stream is stored whole', async ({ stores: { blobs } }) => {
    const piece = patternBytes(MIB - 1)
    const record = await blobs.put('large', byteStream(piece, 12))
    assert.equal(record.size, 12 * piece.length)
    const read = await bytesOf(required(await blobs.get('large'), 'the blob'))
    assert.equal(sha256(read), record.etag)
    assert.ok(
      Buffer.from(read.subarray(11 * piece.length)).equals(Buffer.from(piece)),
      'the last piece is in its place',
    )
  }),
  storeCase('blob.put.copies', 'bytes are copies on the way in and out', async ({ stores: { blobs } }) => {
    const given = patternBytes(100)
    await blobs.put('key', given)
    given.fill(0)
    const read = await bytesOf(required(await blobs.get('key'), 'the blob'))
    assertSameBytes(read, patternBytes(100))
    read.fill(0)
    assertSameBytes(await bytesOf(required(await blobs.get('key'), 'the blob')), patternBytes(100))
  }),
  storeCase(
    'blob.put.content-key',
    'a key that ends in a hash takes only bytes with that hash',
    async ({ stores: { blobs } }) => {
      for (const prefix of ['sandbox-files/', 'sandbox-artifacts/', 'deep/er/', '']) {
        const key = `${prefix}sha256/${sha256('right')}`
        await rejectsWith('BLOB_MISMATCH', () => blobs.put(key, 'wrong'), key)
        assert.equal(await blobs.head(key), null, 'nothing is stored')
        assert.equal((await blobs.put(key, 'right')).etag, sha256('right'))
        await rejectsWith('BLOB_MISMATCH', () => blobs.put(key, byteStream(patternBytes(10), 3)), key)
        assert.equal(await required(await blobs.get(key), key).text(), 'right', 'what was stored stays')
      }
    },
  ),
  storeCase(
    'blob.put.expected-length',
    'a body of another length than expected is refused with BLOB_MISMATCH',
    async ({ stores: { blobs } }) => {
      for (const expectedLength of [0, 4, 6]) {
        await rejectsWith('BLOB_MISMATCH', () => blobs.put('key', 'five!', { expectedLength }), `${expectedLength}`)
        await rejectsWith('BLOB_MISMATCH', () => blobs.put('key', byteStream(patternBytes(5), 1), { expectedLength }))
      }
      assert.equal(await blobs.head('key'), null)
      await blobs.put('key', 'five!', { expectedLength: 5 })
    },
  ),
  storeCase(
    'blob.put.failing-stream',
    'a stream that fails halfway stores nothing and leaves what was there',
    async ({ stores: { blobs } }) => {
      const fault = { failAfter: 3, failure: new Error('the source broke') }
      const broken = () => byteStream(patternBytes(MIB), 6, fault)
      await assert.rejects(blobs.put('key', broken()), (error) => error === fault.failure)
      assertNoBlob(await blobs.get('key'))
      assert.deepEqual((await blobs.list()).objects, [])
      await blobs.put('key', 'before')
      await assert.rejects(blobs.put('key', broken()))
      assert.equal(await required(await blobs.get('key'), 'the blob').text(), 'before')
    },
  ),
  storeCase(
    'blob.put.half-done-is-unseen',
    'a reader sees no part of a blob that is still being put',
    async ({ stores: { blobs } }) => {
      let finish: () => void = () => {}
      const mayFinish = new Promise<void>((resolve) => (finish = resolve))
      let given = 0
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          if (given === 4) await mayFinish
          if (given === 5) controller.close()
          else controller.enqueue(patternBytes(MIB))
          given += 1
        },
      })
      const putting = meanwhile(blobs.put('key', body))
      assertNoBlob(await blobs.get('key'))
      assert.deepEqual((await blobs.list()).objects, [])
      finish()
      await putting
      assert.equal((await blobs.head('key'))?.size, 5 * MIB)
    },
  ),
  storeCase(
    'blob.put.too-large',
    'a body above the limit is refused with BLOB_TOO_LARGE and stores nothing',
    async (subject) => {
      const limit = required(subject.maxBlobBytes, 'maxBlobBytes')
      const { blobs } = subject.stores
      await rejectsWith('BLOB_TOO_LARGE', () =>
        blobs.put('key', byteStream(patternBytes(MIB), Math.ceil(limit / MIB) + 1)),
      )
      await rejectsWith('BLOB_TOO_LARGE', () => blobs.put('key', new Uint8Array(limit + 1)))
      assert.equal(await blobs.head('key'), null)
      assert.equal((await blobs.put('key', new Uint8Array(limit))).size, limit)
    },
    ['blobLimit'],
  ),
]
