import { interruptStoreSuite } from '../../../src/conformance/stores/interrupt-store-suite.ts'
import { metadataStoreSuite } from '../../../src/conformance/stores/metadata-store-suite.ts'
import { storeLifeSuite } from '../../../src/conformance/stores/store-life-suite.ts'
import { withBroken } from './store-mutant.ts'
import type { StoreMutant } from './store-mutant.ts'

/** Wrong stores of interrupts and metadata, and stores that do not close. */
export const RECORD_MUTANTS: readonly StoreMutant[] = [
  {
    name: 'an answer is overwritten',
    suite: interruptStoreSuite,
    change: withBroken('interrupts', (interrupts) => ({
      get: async (id) => {
        const record = await interrupts.get(id)
        return record?.interruptId === 'resolved' && record.response === 'first'
          ? { ...record, resolvedAt: Math.random() }
          : record
      },
    })),
    detectedBy: ['interrupt.answered-stays'],
  },
  {
    name: 'a batch is answered one by one',
    suite: interruptStoreSuite,
    change: withBroken('interrupts', (interrupts) => ({
      commitBatch: async (entries) => {
        for (const entry of entries) await interrupts.commitBatch?.([entry])
      },
    })),
    detectedBy: ['interrupt.batch.all-or-none'],
  },
  {
    name: 'lists are by id only',
    suite: interruptStoreSuite,
    change: withBroken('interrupts', (interrupts) => ({
      list: async (threadId) =>
        (await interrupts.list(threadId)).toSorted((left, right) => (left.interruptId < right.interruptId ? -1 : 1)),
    })),
    detectedBy: ['interrupt.lists'],
  },
  {
    name: 'values are JSON in JSON',
    suite: metadataStoreSuite,
    change: withBroken('metadata', (metadata) => ({
      get: async (namespace, key) => {
        const value = await metadata.get(namespace, key)
        return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
      },
    })),
    detectedBy: ['metadata.set.keeps-any-json', 'metadata.set.replaces', 'metadata.copies'],
  },
  {
    name: 'names run together',
    suite: metadataStoreSuite,
    change: withBroken('metadata', (metadata) => ({
      get: (namespace, key) => metadata.get('all', namespace === '' || key === '' ? '' : `${namespace}:${key}`),
      set: (namespace, key, value) =>
        metadata.set('all', namespace === '' || key === '' ? '' : `${namespace}:${key}`, value),
      delete: (namespace, key) => metadata.delete('all', namespace === '' || key === '' ? '' : `${namespace}:${key}`),
    })),
    detectedBy: ['metadata.names-are-apart'],
  },
  {
    name: 'closed stores go on',
    suite: storeLifeSuite,
    change: (stores) => ({ ...stores, close: () => Promise.resolve() }),
    hangs: true,
    detectedBy: ['stores.ping', 'stores.close.ends-waits', 'stores.close.ends-lock-waiters'],
  },
]
