import { isHoldfastError } from '@holdfast/core'
import type { FencingToken, SandboxInstanceRecord } from '@holdfast/core'
import { instanceStoreSuite } from '../../../src/conformance/stores/instance-store-suite.ts'
import { interruptStoreSuite } from '../../../src/conformance/stores/interrupt-store-suite.ts'
import { lockStoreSuite } from '../../../src/conformance/stores/lock-store-suite.ts'
import { messageStoreSuite } from '../../../src/conformance/stores/message-store-suite.ts'
import { metadataStoreSuite } from '../../../src/conformance/stores/metadata-store-suite.ts'
import { storeLifeSuite } from '../../../src/conformance/stores/store-life-suite.ts'
import { threadStoreSuite } from '../../../src/conformance/stores/thread-store-suite.ts'
import { withBroken } from './store-mutant.ts'
import type { StoreMutant } from './store-mutant.ts'

const lockMutants: readonly StoreMutant[] = [
  {
    name: 'nobody is kept out',
    suite: lockStoreSuite,
    change: withBroken('locks', (locks) => {
      let calls = 0
      return {
        withLock: async (key, fn, options) => {
          calls += 1
          const token = calls as FencingToken
          return locks.withLock(`${key}${key === '' ? '' : calls}`, (signal) => fn(signal, { key, token }), options)
        },
      }
    }),
    hangs: true,
    detectedBy: ['lock.one-at-a-time', 'lock.renews-itself', 'lock.wait.timeout', 'lock.wait.abort'],
  },
  {
    name: 'tokens do not grow',
    suite: lockStoreSuite,
    change: withBroken('locks', (locks) => ({
      withLock: (key, fn, options) =>
        locks.withLock(key, (signal) => fn(signal, { key, token: 1 as FencingToken }), options),
    })),
    detectedBy: ['lock.one-at-a-time'],
  },
  {
    name: 'waiters ignore waitMs and signal',
    suite: lockStoreSuite,
    change: withBroken('locks', (locks) => ({
      withLock: (key, fn, options) => {
        const isLive = options?.signal?.aborted === false
        const isUsable = (options?.waitMs ?? -1) >= 0 && Number.isFinite(options?.waitMs)
        return locks.withLock(key, fn, isLive || isUsable ? {} : options)
      },
    })),
    hangs: true,
    detectedBy: ['lock.wait.timeout', 'lock.wait.abort', 'lock.wait.the-next-is-served'],
  },
  {
    name: "a caller's signal reaches into its callback",
    suite: lockStoreSuite,
    change: withBroken('locks', (locks) => ({
      withLock: (key, fn, options) =>
        locks.withLock(key, (signal, lease) => fn(options?.signal ?? signal, lease), options),
    })),
    detectedBy: ['lock.wait.abort-does-not-reach-a-holder'],
  },
]

const shared = new Map<string, SandboxInstanceRecord>()

const instanceMutants: readonly StoreMutant[] = [
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

const threadMutants: readonly StoreMutant[] = [
  {
    name: 'a foreign thread is found',
    suite: threadStoreSuite,
    change: withBroken('threads', (threads) => ({ find: (threadId) => threads.find(threadId) })),
    detectedBy: ['thread.find', 'thread.input.bad-ones-are-refused'],
  },
  {
    name: 'ensure gives a foreign thread away',
    suite: threadStoreSuite,
    change: withBroken('threads', (threads) => ({
      ensure: (input) =>
        threads.ensure(input).catch(async (error: unknown) => {
          const found = isHoldfastError(error, 'THREAD_NOT_FOUND') ? await threads.find(input.threadId) : null
          if (found === null) throw error
          return found
        }),
    })),
    detectedBy: ['thread.ensure.foreign'],
  },
  {
    name: 'delete ignores a run that holds the thread',
    suite: threadStoreSuite,
    change: withBroken('threads', (threads, { drivers, runs }) => ({
      delete: async (threadId) => {
        for (const { runId } of await drivers.list({ threadId, status: 'running', limit: 10 })) {
          await runs.update(runId, { status: 'aborted' })
        }
        await threads.delete(threadId)
      },
    })),
    detectedBy: ['thread.delete.busy'],
  },
  {
    name: 'delete takes instance rows',
    suite: threadStoreSuite,
    change: withBroken('threads', (threads, { instances }) => ({
      delete: async (threadId) => {
        await threads.delete(threadId)
        await instances.delete(`key of ${threadId}`)
      },
    })),
    detectedBy: ['thread.delete.erases', 'thread.delete.busy'],
  },
  {
    name: 'delete leaves messages',
    suite: threadStoreSuite,
    change: withBroken('threads', (threads, { messages }) => ({
      delete: async (threadId) => {
        const kept = await messages.loadThread(threadId)
        await threads.delete(threadId)
        await messages.saveThread(threadId, kept)
      },
    })),
    detectedBy: ['thread.delete.erases', 'thread.delete.busy'],
  },
  {
    name: 'touch does nothing',
    suite: threadStoreSuite,
    change: withBroken('threads', (threads) => ({ touch: async (threadId) => void (await threads.find(threadId)) })),
    detectedBy: ['thread.touch', 'thread.list.newest-first'],
  },
]

const messageMutants: readonly StoreMutant[] = [
  {
    name: 'the fence is ignored',
    suite: messageStoreSuite,
    change: withBroken('messages', (messages) => ({
      saveThread: (threadId, list) => messages.saveThread(threadId, list),
    })),
    detectedBy: ['message.fence.stale', 'message.input.bad-ones-are-refused'],
  },
  {
    name: 'saveThread appends',
    suite: messageStoreSuite,
    change: withBroken('messages', (messages) => ({
      saveThread: async (threadId, list, fence) => {
        const before = await messages.loadThread(threadId)
        await messages.saveThread(threadId, [...before, ...list.slice(before.length)], fence)
      },
    })),
    detectedBy: ['message.save.replaces-all', 'message.input.lossy-is-refused'],
  },
  {
    name: 'messages lose their ids',
    suite: messageStoreSuite,
    change: withBroken('messages', (messages) => ({
      loadThread: async (threadId) =>
        (await messages.loadThread(threadId)).map((message, index) => ({ ...message, id: `new-${index}` })),
    })),
    detectedBy: [
      'message.save.keeps-everything',
      'message.save.replaces-all',
      'message.save.order',
      'message.threads-are-apart',
      'message.copies',
      'message.fence.current',
      'message.fence.stale',
      'message.fence.none',
      'message.input.lossy-is-refused',
    ],
  },
  {
    name: 'times come back as text',
    suite: messageStoreSuite,
    change: withBroken('messages', (messages) => ({
      loadThread: async (threadId) => JSON.parse(JSON.stringify(await messages.loadThread(threadId))),
    })),
    detectedBy: ['message.save.keeps-everything', 'message.copies'],
  },
]

const recordMutants: readonly StoreMutant[] = [
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

export const THREAD_MUTANTS: readonly StoreMutant[] = [
  ...lockMutants,
  ...instanceMutants,
  ...threadMutants,
  ...messageMutants,
  ...recordMutants,
]
