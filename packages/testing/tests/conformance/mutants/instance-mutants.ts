import type { SandboxInstanceRecord } from '@holdfast/core'
import { instanceStoreSuite } from '../../../src/conformance/stores/instance-store-suite.ts'
import { withBroken } from './store-mutant.ts'
import type { StoreMutant } from './store-mutant.ts'

const shared = new Map<string, SandboxInstanceRecord>()

/** Wrong instance stores. */
export const INSTANCE_MUTANTS: readonly StoreMutant[] = [
  {
    name: 'list by state leaves out a record without one',
    suite: instanceStoreSuite,
    change: withBroken('instances', (instances) => ({
      list: async (input) => {
        const page = (await instances.list?.(input)) ?? { records: [] }
        return {
          ...page,
          records: page.records.filter(({ state }) => input.state === undefined || state !== undefined),
        }
      },
    })),
    detectedBy: ['instance.list.state'],
  },
  {
    name: 'upsert forgets to clear',
    suite: instanceStoreSuite,
    change: withBroken('instances', (instances) => ({
      upsert: async (record) => {
        const before = await instances.get(record.key).catch(() => null)
        await instances.upsert({ ...before, ...record })
      },
    })),
    detectedBy: ['instance.upsert.replaces-all'],
  },
  {
    name: 'get gives a shared object',
    suite: instanceStoreSuite,
    change: withBroken('instances', (instances) => ({
      upsert: async (record) => {
        shared.delete(record.key)
        await instances.upsert(record)
      },
      get: async (key) => {
        const record = await instances.get(key)
        if (record === null) return null
        const known = shared.get(key) ?? record
        shared.set(key, known)
        return known
      },
    })),
    detectedBy: ['instance.copies'],
  },
  {
    name: 'list is by key only',
    suite: instanceStoreSuite,
    change: withBroken('instances', (instances) => ({
      list: async (input) => {
        const page = await instances.list?.(input)
        return { ...page, records: page?.records.toSorted((left, right) => (left.key < right.key ? -1 : 1)) ?? [] }
      },
    })),
    detectedBy: ['instance.list.order'],
  },
  {
    name: 'before is inclusive',
    suite: instanceStoreSuite,
    change: withBroken('instances', (instances) => ({
      list: async ({ before, ...input }) =>
        (await instances.list?.({ ...input, ...(before === undefined ? {} : { before: before + 1 }) })) ?? {
          records: [],
        },
    })),
    detectedBy: ['instance.list.filters', 'instance.list.bad-input-is-refused'],
  },
]
