import assert from 'node:assert/strict'
import type { ModelMessage } from '@tanstack/ai'
import type { ConformanceSuite } from '../conformance-suite.ts'
import type { StoreSubject } from '../store-subject.ts'
import { BAD_EPOCHS, ODD_IDS, refusesBadArguments, refusesBadIds, refusesClosed } from './bad-input.ts'
import { claim, hostAt, hostsOf, TTL_MS } from './driver-subject.ts'
import { rejectsWith } from './rejects-with.ts'
import { required } from './required.ts'
import { meanwhile } from './soon.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'
import { fullTranscript, textMessages } from './transcript.ts'

const saveCases: readonly StoreCase[] = [
  storeCase(
    'message.load.never-saved',
    'loadThread of a thread that was never saved is empty',
    async ({ stores: { messages } }) => {
      assert.deepEqual(await messages.loadThread('nothing'), [])
    },
  ),
  storeCase(
    'message.save.keeps-everything',
    'messages come back as they were saved, ids and times included',
    async ({ stores: { messages } }) => {
      await messages.saveThread('thread-1', fullTranscript())
      const loaded = await messages.loadThread('thread-1')
      assert.deepEqual(loaded, fullTranscript())
      assert.ok(loaded[0]?.createdAt instanceof Date)
    },
  ),
  storeCase(
    'message.save.replaces-all',
    'saveThread replaces the whole transcript',
    async ({ stores: { messages } }) => {
      await messages.saveThread('thread-1', fullTranscript())
      await messages.saveThread('thread-1', textMessages('one', 'two'))
      assert.deepEqual(await messages.loadThread('thread-1'), textMessages('one', 'two'))
      await messages.saveThread('thread-1', textMessages('two', 'one', 'three'))
      assert.deepEqual(await messages.loadThread('thread-1'), textMessages('two', 'one', 'three'))
      await messages.saveThread('thread-1', [])
      assert.deepEqual(await messages.loadThread('thread-1'), [])
    },
  ),
  storeCase(
    'message.save.order',
    'messages keep their order, also many and with equal content',
    async ({ stores: { messages } }) => {
      const many = textMessages(...Array.from({ length: 300 }, (_, index) => `${index % 7}`))
      await messages.saveThread('thread-1', many)
      assert.deepEqual(await messages.loadThread('thread-1'), many)
    },
  ),
  storeCase(
    'message.threads-are-apart',
    'threads do not mix, whatever characters their ids have',
    async ({ stores: { messages } }) => {
      for (const id of ODD_IDS) await messages.saveThread(id, textMessages(id))
      for (const id of ODD_IDS) assert.deepEqual(await messages.loadThread(id), textMessages(id))
    },
  ),
  storeCase('message.copies', 'messages are copies on the way in and out', async ({ stores: { messages } }) => {
    const given = fullTranscript()
    await messages.saveThread('thread-1', given)
    given.pop()
    required(given[1]?.toolCalls?.[0], 'a tool call').function.name = 'changed after'
    const loaded = await messages.loadThread('thread-1')
    assert.deepEqual(loaded, fullTranscript())
    loaded.shift()
    required(loaded[0]?.toolCalls?.[0], 'a tool call').function.name = 'changed by a reader'
    assert.deepEqual(await messages.loadThread('thread-1'), fullTranscript())
  }),
  storeCase('message.large', 'a message of 10 MB is kept', async ({ stores: { messages } }) => {
    const large = textMessages('ä😀 x'.repeat(1_250_000))
    await messages.saveThread('thread-1', large)
    const loaded = await messages.loadThread('thread-1')
    assert.ok(loaded[0]?.content === large[0]?.content, 'the text is the same')
  }),
]

const fenceCases: readonly StoreCase[] = [
  storeCase('message.fence.current', 'a save under the current epoch is stored', async ({ stores }) => {
    const { epoch } = await claim(stores.drivers)
    await stores.messages.saveThread('thread-1', textMessages('mine'), { runId: 'run-1', epoch })
    assert.deepEqual(await stores.messages.loadThread('thread-1'), textMessages('mine'))
  }),
  storeCase(
    'message.fence.stale',
    'a save under a stale epoch is refused with DRIVER_LOST and changes nothing',
    async ({ stores, advance }) => {
      const { epoch } = await claim(stores.drivers)
      await advance(TTL_MS + 1)
      const next = await claim(stores.drivers, { owner: 'host-b' })
      const fence = { runId: 'run-1', epoch }
      await rejectsWith('DRIVER_LOST', () => stores.messages.saveThread('thread-1', textMessages('stale'), fence))
      assert.deepEqual(await stores.messages.loadThread('thread-1'), [])
      await stores.messages.saveThread('thread-1', textMessages('theirs'), { runId: 'run-1', epoch: next.epoch })
      await rejectsWith('DRIVER_LOST', () => stores.messages.saveThread('thread-1', [], fence))
      assert.deepEqual(await stores.messages.loadThread('thread-1'), textMessages('theirs'))
    },
  ),
  storeCase('message.fence.none', 'a save without a fence is never refused', async ({ stores }) => {
    await claim(stores.drivers)
    await stores.messages.saveThread('thread-1', textMessages('by the app'))
    assert.deepEqual(await stores.messages.loadThread('thread-1'), textMessages('by the app'))
  }),
]

const inputCases: readonly StoreCase[] = [
  storeCase(
    'message.input.bad-ones-are-refused',
    'malformed ids and epochs are refused',
    async ({ stores: { messages } }) => {
      await refusesBadIds({
        loadThread: (threadId) => messages.loadThread(threadId),
        saveThread: (threadId) => messages.saveThread(threadId, []),
        'saveThread fence': (runId) => messages.saveThread('thread-1', [], { runId, epoch: 1 }),
      })
      await refusesBadArguments(BAD_EPOCHS, {
        epoch: (epoch) => messages.saveThread('thread-1', [], { runId: 'run-1', epoch }),
      })
    },
  ),
  storeCase(
    'message.input.lossy-is-refused',
    'what JSON cannot keep is refused with INVALID_CHUNK and changes nothing',
    async ({ stores: { messages } }) => {
      await messages.saveThread('thread-1', textMessages('before'))
      for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 1n, () => 1, [undefined]]) {
        const bad: ModelMessage = { role: 'user', content: 'x', metadata: { value } }
        await rejectsWith('INVALID_CHUNK', () => messages.saveThread('thread-1', [bad]), String(value))
      }
      assert.deepEqual(await messages.loadThread('thread-1'), textMessages('before'))
    },
  ),
  storeCase('message.closed', 'every call after close is refused with STORE_CLOSED', async ({ stores }) => {
    const { messages } = stores
    await stores.close()
    await refusesClosed({
      loadThread: () => messages.loadThread('thread-1'),
      saveThread: () => messages.saveThread('thread-1', []),
    })
  }),
  storeCase(
    'message.reopened',
    'transcripts outlive a close',
    async (subject) => {
      await subject.stores.messages.saveThread('thread-1', fullTranscript())
      const { messages } = await required(subject.reopen, 'reopen')()
      assert.deepEqual(await messages.loadThread('thread-1'), fullTranscript())
    },
    ['reopen'],
  ),
  storeCase(
    'message.concurrent.atomic',
    'a reader sees one whole transcript while several hosts save theirs',
    async (subject) => {
      const hosts = await hostsOf(subject, 4)
      const texts = (writer: number) => Array.from({ length: 20 + writer }, () => `writer ${writer}`)
      let isSaving = true
      const readLoop = async () => {
        while (isSaving) {
          const loaded = await subject.stores.messages.loadThread('thread-1')
          const writer = loaded.length - 20
          if (loaded.length > 0) assert.deepEqual(loaded, textMessages(...texts(writer)))
        }
      }
      const reading = meanwhile(readLoop())
      const saving = Array.from({ length: 8 }, async (_, writer) => {
        for (let round = 0; round < 10; round += 1) {
          await hostAt(hosts, writer).messages.saveThread('thread-1', textMessages(...texts(writer)))
        }
      })
      await Promise.all(saving).finally(() => (isSaving = false))
      await reading
    },
    ['concurrent'],
  ),
]

/** The contract of `MessageStore`. */
export const messageStoreSuite: ConformanceSuite<StoreSubject> = {
  name: 'MessageStore',
  cases: [...saveCases, ...fenceCases, ...inputCases],
}
