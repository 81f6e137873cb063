import { messageStoreSuite } from '../../../src/conformance/stores/message-store-suite.ts'
import { withBroken } from './store-mutant.ts'
import type { StoreMutant } from './store-mutant.ts'

/** Wrong message stores. */
export const MESSAGE_MUTANTS: readonly StoreMutant[] = [
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
