import { isHoldfastError } from '@holdfast/core'
import { threadStoreSuite } from '../../../src/conformance/stores/thread-store-suite.ts'
import { withBroken } from './store-mutant.ts'
import type { StoreMutant } from './store-mutant.ts'

/** Wrong thread stores. */
export const THREAD_MUTANTS: readonly StoreMutant[] = [
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
