import assert from 'node:assert/strict'
import { OFFSET_START } from '@holdfast/core'
import type { EventLogEntry } from '@holdfast/core'
import type { ConformanceSuite } from '../conformance-suite.ts'
import type { StoreSubject } from '../store-subject.ts'
import {
  BAD_EPOCHS,
  BAD_IDS,
  BAD_LIMITS,
  BAD_TIMES,
  refusesBadArguments,
  refusesBadIds,
  refusesClosed,
} from './bad-input.ts'
import { claim, hostAt, hostsOf, TTL_MS } from './driver-subject.ts'
import { eventAppendCases } from './event-append-cases.ts'
import { readAll, Tail, textChunk, textChunks, textsOf } from './event-chunks.ts'
import { eventFenceCases } from './event-fence-cases.ts'
import { eventReadCases } from './event-read-cases.ts'
import { rejectsWith, throwsWith } from './rejects-with.ts'
import { meanwhile, soon } from './soon.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'

const APPENDERS = 8
const READERS = 8
const BATCHES = 20

const inputCases: readonly StoreCase[] = [
  storeCase(
    'log.input.bad-ones-are-refused',
    'malformed ids, epochs, times and limits are refused',
    async ({ stores }) => {
      const { eventLog } = stores
      for (const [what, runId] of BAD_IDS) throwsWith('INVALID_ID', () => eventLog.open({ runId }), what)
      for (const epoch of BAD_EPOCHS) {
        throwsWith('INVALID_ARGUMENT', () => eventLog.open({ runId: 'run-1', epoch }), `epoch ${epoch}`)
      }
      await refusesBadIds({ find: (runId) => eventLog.find(runId), delete: (runId) => eventLog.delete(runId) })
      await refusesBadArguments(BAD_TIMES, { closedBefore: (closedBefore) => eventLog.deleteBefore({ closedBefore }) })
      await refusesBadArguments(BAD_LIMITS, { limit: (limit) => eventLog.deleteBefore({ closedBefore: 1, limit }) })
    },
  ),
  storeCase(
    'log.closed-store',
    'every call after close of the store is refused with STORE_CLOSED',
    async ({ stores }) => {
      const { eventLog } = stores
      const log = eventLog.open({ runId: 'run-1' })
      await stores.close()
      await refusesClosed({
        append: () => log.append([textChunk('late')]),
        snapshot: () => log.snapshot(),
        close: () => log.close(),
        read: async () => log.read(OFFSET_START)[Symbol.asyncIterator]().next(),
        find: () => eventLog.find('run-1'),
        deleteBefore: () => eventLog.deleteBefore({ closedBefore: 1 }),
        delete: () => eventLog.delete('run-1'),
      })
    },
  ),
]

function assertSameSequence(entries: readonly EventLogEntry[], expected: readonly EventLogEntry[], who: string): void {
  const offsets = (list: readonly EventLogEntry[]): string[] => list.map(({ offset }) => offset)
  assert.deepEqual(textsOf(entries), textsOf(expected), `${who} sees the same events`)
  assert.deepEqual(offsets(entries), offsets(expected), `${who} sees the same offsets`)
}

const concurrentCases: readonly StoreCase[] = [
  storeCase(
    'log.concurrent.appenders-and-readers',
    'readers on all connections see one sequence without a hole',
    async (subject) => {
      const hosts = await hostsOf(subject, 4)
      const open = (index: number) => hostAt(hosts, index).eventLog.open({ runId: 'run-1' })
      const readers = Array.from({ length: READERS }, (_, index) => meanwhile(readAll(open(index), OFFSET_START)))
      const appenders = Array.from({ length: APPENDERS }, async (_, index) => {
        const log = open(index)
        for (let batch = 0; batch < BATCHES; batch += 1)
          await log.append(textChunks((batch % 3) + 1, `${index}:${batch}:`))
      })
      await Promise.all(appenders)
      const expected = await open(0).snapshot()
      await open(1).close()
      for (const [index, entries] of (await Promise.all(readers)).entries()) {
        assertSameSequence(entries, expected, `reader ${index}`)
      }
      for (let index = 0; index < APPENDERS; index += 1) {
        const own = textsOf(expected).filter((text) => text.startsWith(`${index}:`))
        const batches = Array.from({ length: BATCHES }, (_, batch) =>
          Array.from({ length: (batch % 3) + 1 }, (_unused, chunk) => `${index}:${batch}:${chunk}`),
        )
        assert.deepEqual(own, batches.flat(), `appender ${index} keeps its order`)
      }
    },
    ['concurrent'],
  ),
  storeCase(
    'log.concurrent.batches-stay-together',
    'events of one batch stand side by side',
    async (subject) => {
      const hosts = await hostsOf(subject, 4)
      const appending = Array.from({ length: 40 }, (_, index) =>
        hostAt(hosts, index)
          .eventLog.open({ runId: 'run-1' })
          .append(textChunks(5, `${index}:`)),
      )
      await Promise.all(appending)
      const texts = textsOf(await subject.stores.eventLog.open({ runId: 'run-1' }).snapshot())
      assert.equal(texts.length, 200)
      for (let start = 0; start < texts.length; start += 5) {
        const [batch] = texts[start]?.split(':') ?? []
        assert.deepEqual(
          texts.slice(start, start + 5),
          [0, 1, 2, 3, 4].map((chunk) => `${batch}:${chunk}`),
        )
      }
    },
    ['concurrent'],
  ),
  storeCase(
    'log.concurrent.tails-across-connections',
    'a reader on another connection sees an append at once',
    async (subject) => {
      const hosts = await hostsOf(subject, 2)
      const tail = new Tail(hostAt(hosts, 1).eventLog.open({ runId: 'run-1' }), OFFSET_START)
      for (let index = 0; index < 5; index += 1) {
        const pending = tail.pending()
        await subject.stores.eventLog.open({ runId: 'run-1' }).append([textChunk(`${index}`)])
        await subject.advance(2_000)
        const { value } = await soon(pending, 'an event from another connection')
        assert.deepEqual(value.chunk, textChunk(`${index}`))
      }
      await tail.stop()
    },
    ['concurrent'],
  ),
  storeCase(
    'log.concurrent.superseded-driver',
    'after a takeover nothing of the older epoch follows',
    async (subject) => {
      const hosts = await hostsOf(subject, 2)
      for (let round = 1; round <= 5; round += 1) {
        const runId = `run-${round}`
        const old = await claim(subject.stores.drivers, { runId, threadId: runId })
        const oldLog = subject.stores.eventLog.open({ runId, epoch: old.epoch })
        await oldLog.append([textChunk('old')])
        await subject.advance(TTL_MS + 1)
        const racing = Array.from({ length: 20 }, () => oldLog.append([textChunk('old')]).catch(() => []))
        const next = await claim(hostAt(hosts, 1).drivers, { runId, threadId: runId, owner: 'host-b' })
        const newLog = hostAt(hosts, 1).eventLog.open({ runId, epoch: next.epoch })
        await newLog.append([textChunk('new')])
        await Promise.all(racing)
        await rejectsWith('DRIVER_LOST', () => oldLog.append([textChunk('old')]))
        const texts = textsOf(await newLog.snapshot())
        assert.equal(texts.at(-1), 'new', 'the last event is the successor’s')
      }
    },
    ['concurrent'],
  ),
]

/** The contract of `EventLogStore`. */
export const eventLogSuite: ConformanceSuite<StoreSubject> = {
  name: 'EventLogStore',
  cases: [...eventAppendCases, ...eventReadCases, ...eventFenceCases, ...inputCases, ...concurrentCases],
}
