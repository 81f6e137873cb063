import type { BlobStore } from '@holdfast/core'
import { blobStoreSuite } from '../../../src/conformance/stores/blob-store-suite.ts'
import { withBroken } from './store-mutant.ts'
import type { StoreMutant } from './store-mutant.ts'

/** A key without the promise about its bytes. */
const asUnpromised = (key: string): string => key.replace(/sha256\/([0-9a-f]{64})$/, 'sha256-$1')

/** Stores what came before a failure, as a store that writes chunk by chunk would. */
function leakyPut(blobs: BlobStore): BlobStore['put'] {
  return async (key, body, options) => {
    if (!(body instanceof ReadableStream)) return blobs.put(key, body, options)
    const pieces: Uint8Array[] = []
    try {
      for await (const piece of body) pieces.push(piece)
    } catch (error) {
      await blobs.put(key, Buffer.concat(pieces), options)
      throw error
    }
    return blobs.put(key, Buffer.concat(pieces), options)
  }
}

/** Wrong blob stores. */
export const BLOB_MUTANTS: readonly StoreMutant[] = [
  {
    name: 'the hash of a blob is not checked',
    suite: blobStoreSuite,
    change: withBroken('blobs', (blobs) => ({
      put: (key, body, options) => blobs.put(asUnpromised(key), body, options),
      get: (key, options) => blobs.get(asUnpromised(key), options),
      head: (key) => blobs.head(asUnpromised(key)),
    })),
    detectedBy: ['blob.put.content-key'],
  },
  {
    name: 'the expected length is not checked',
    suite: blobStoreSuite,
    change: withBroken('blobs', (blobs) => ({
      put: (key, body, options = {}) => {
        const { expectedLength: _expectedLength, ...rest } = options
        return blobs.put(key, body, rest)
      },
    })),
    detectedBy: ['blob.put.expected-length'],
  },
  {
    name: 'a stream that fails leaves what it gave',
    suite: blobStoreSuite,
    change: withBroken('blobs', (blobs) => ({ put: leakyPut(blobs) })),
    detectedBy: ['blob.put.failing-stream'],
  },
  {
    name: 'put keeps the metadata of the blob before',
    suite: blobStoreSuite,
    change: withBroken('blobs', (blobs) => ({
      put: async (key, body, options) => {
        const before = await blobs.head(key).catch(() => null)
        return blobs.put(key, body, {
          ...(before?.contentType === undefined ? {} : { contentType: before.contentType }),
          ...options,
        })
      },
    })),
    detectedBy: ['blob.put.replaces'],
  },
  {
    name: 'a range ends one byte late',
    suite: blobStoreSuite,
    change: withBroken('blobs', (blobs) => ({
      get: (key, { range } = {}) => {
        if (range?.length === undefined) return blobs.get(key, range === undefined ? {} : { range })
        return blobs.get(key, { range: { offset: range.offset, length: range.length + 1 } })
      },
    })),
    detectedBy: ['blob.get.ranges', 'blob.input.bad-ones-are-refused'],
  },
  {
    name: 'list takes the prefix as a pattern',
    suite: blobStoreSuite,
    change: withBroken('blobs', (blobs) => ({
      list: async ({ prefix, ...input } = {}) => {
        if (prefix === undefined) return blobs.list(input)
        const pattern = new RegExp(
          `^${prefix
            .replaceAll('%', '.*')
            .replaceAll('_', '.')
            .replaceAll('*', String.raw`\*`)}`,
        )
        const { objects } = await blobs.list({})
        return { objects: objects.filter(({ key }) => pattern.test(key)) }
      },
    })),
    detectedBy: ['blob.list.prefix'],
  },
  {
    name: 'list orders by UTF-16',
    suite: blobStoreSuite,
    change: withBroken('blobs', (blobs) => ({
      list: async (input) => {
        const page = await blobs.list(input)
        return { ...page, objects: page.objects.toSorted((left, right) => (left.key < right.key ? -1 : 1)) }
      },
    })),
    detectedBy: ['blob.list.order'],
  },
]
