import assert from 'node:assert/strict'
import { OFFSET_NOW, OFFSET_START } from '@holdfast/core'
import type { EventLog, EventOffset } from '@holdfast/core'
import { readAll, runFailed, runFinished, Tail, textChunk, textChunks, textOf, textsOf } from './event-chunks.ts'
import { rejectsWith } from './rejects-with.ts'
import { required } from './required.ts'
import { meanwhile, soon } from './soon.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'

/** A reader that refuses its offset may do so at the call or at the first event. */
async function firstFrom(log: EventLog, offset: string): Promise<unknown> {
  return soon(
    log
      .read(offset as EventOffset)
      [Symbol.asyncIterator]()
      .next(),
    `an answer to the offset ${offset}`,
  )
}

const MALFORMED = ['', ' ', '-2', '+1', '0x1', '1.5', 'NaN', 'null', 'nonsense', '-1\n', ' -1', 'NOW', '\ud800', '\0']

const tailCases: readonly StoreCase[] = [
  storeCase(
    'log.read.replays-then-tails',
    'read gives what is stored, then what comes, and ends on close',
    async ({ stores }) => {
      const log = stores.eventLog.open({ runId: 'run-1' })
      const stored = await log.append(textChunks(3))
      const tail = new Tail(log, OFFSET_START)
      for (const offset of stored) assert.equal((await tail.next()).offset, offset)
      const pending = tail.pending()
      const [later] = await log.append([textChunk('later')])
      const entry = await soon(pending, 'a later event')
      assert.deepEqual(entry, { done: false, value: { offset: later, chunk: textChunk('later') } })
      await log.close()
      await tail.ends()
    },
  ),
  storeCase('log.read.strictly-after', 'read starts strictly after the offset', async ({ stores }) => {
    const log = stores.eventLog.open({ runId: 'run-1' })
    const offsets = [...(await log.append(textChunks(15))), ...(await log.append(textChunks(5, 'b')))]
    await log.close()
    for (const [index, offset] of offsets.entries()) {
      const entries = await readAll(log, offset)
      assert.deepEqual(
        entries.map((entry) => entry.offset),
        offsets.slice(index + 1),
      )
    }
  }),
  storeCase('log.read.closed', 'read of a closed log replays all and ends', async ({ stores }) => {
    const log = stores.eventLog.open({ runId: 'run-1' })
    const offsets = await log.append(textChunks(3))
    await log.close()
    assert.deepEqual(
      (await readAll(log, OFFSET_START)).map(({ offset }) => offset),
      offsets,
    )
    assert.deepEqual(await readAll(log, required(offsets[2], 'the last offset')), [])
    assert.deepEqual(await readAll(log, OFFSET_NOW), [])
    const empty = stores.eventLog.open({ runId: 'run-2' })
    await empty.close()
    assert.deepEqual(await readAll(empty, OFFSET_START), [])
  }),
  storeCase('log.read.waits-for-the-first', 'read of a run without events waits for its first', async ({ stores }) => {
    const log = stores.eventLog.open({ runId: 'run-1' })
    const tail = new Tail(log, OFFSET_START)
    const pending = tail.pending()
    await log.append([textChunk('first')])
    const { value } = await soon(pending, 'the first event')
    assert.equal(textOf(value.chunk), 'first')
    await tail.stop()
  }),
  storeCase(
    'log.read.terminal-chunk-is-not-the-end',
    'read goes on after a terminal chunk: only close ends it',
    async ({ stores }) => {
      const log = stores.eventLog.open({ runId: 'run-1' })
      const tail = new Tail(log, OFFSET_START)
      for (const chunk of [runFinished, runFailed]) {
        await log.append([chunk])
        assert.deepEqual((await tail.next()).chunk, chunk)
        await log.append([textChunk('next iteration')])
        assert.equal(textOf((await tail.next()).chunk), 'next iteration')
      }
      await log.append([runFinished])
      assert.deepEqual((await tail.next()).chunk, runFinished)
      await log.close()
      await tail.ends()
    },
  ),
  storeCase('log.read.now', 'read from now skips what is stored', async ({ stores }) => {
    const log = stores.eventLog.open({ runId: 'run-1' })
    await log.append(textChunks(3, 'old '))
    const tail = new Tail(log, OFFSET_NOW)
    let first: string | undefined
    const pending = meanwhile(tail.pending().then(({ value }) => (first = textOf(value.chunk))))
    // The reader may learn where "now" is a moment later, so events come until it has seen one.
    for (let index = 0; index < 1_000 && first === undefined; index += 1) await log.append([textChunk(`new ${index}`)])
    assert.match(await soon(pending, 'an event after now'), /^new /)
    await tail.stop()
  }),
  storeCase('log.read.abort', 'read ends without an error when its signal aborts', async ({ stores }) => {
    const log = stores.eventLog.open({ runId: 'run-1' })
    await log.append([textChunk('only')])
    const controller = new AbortController()
    const tail = new Tail(log, OFFSET_START, controller.signal)
    await tail.next()
    const pending = tail.pending()
    controller.abort()
    assert.equal((await soon(pending, 'the end after abort')).done, true)
    assert.equal((await stores.eventLog.find('run-1'))?.isClosed, false)
  }),
  storeCase('log.read.many-readers', 'every reader sees every event', async ({ stores }) => {
    const log = stores.eventLog.open({ runId: 'run-1' })
    const readers = Array.from({ length: 5 }, () =>
      meanwhile(readAll(stores.eventLog.open({ runId: 'run-1' }), OFFSET_START)),
    )
    for (let index = 0; index < 20; index += 1) await log.append(textChunks(2, `${index}/`))
    await log.close()
    const expected = await log.snapshot()
    assert.equal(expected.length, 40)
    for (const entries of await Promise.all(readers)) assert.deepEqual(entries, expected)
  }),
]

const offsetCases: readonly StoreCase[] = [
  storeCase('log.offset.malformed', 'a malformed offset is refused with INVALID_OFFSET', async ({ stores }) => {
    const log = stores.eventLog.open({ runId: 'run-1' })
    await log.append(textChunks(3))
    for (const offset of MALFORMED) {
      await rejectsWith('INVALID_OFFSET', async () => firstFrom(log, offset), JSON.stringify(offset))
    }
  }),
  storeCase(
    'log.offset.of-another-run',
    'an offset of another run is refused with INVALID_OFFSET',
    async ({ stores }) => {
      const log = stores.eventLog.open({ runId: 'run-1' })
      await log.append(textChunks(3))
      for (const runId of ['run-2', 'run-10', 'other']) {
        const [offset] = await stores.eventLog.open({ runId }).append([textChunk('elsewhere')])
        await rejectsWith('INVALID_OFFSET', async () => firstFrom(log, required(offset, 'an offset')), runId)
      }
    },
  ),
  storeCase(
    'log.offset.from-the-future',
    'an offset beyond the end is refused with INVALID_OFFSET',
    async ({ stores }) => {
      const log = stores.eventLog.open({ runId: 'run-1' })
      const offset = required((await log.append(textChunks(5))).at(-1), 'the last offset')
      await stores.eventLog.delete('run-1')
      await rejectsWith('INVALID_OFFSET', async () => firstFrom(log, offset), 'a log that was deleted')
      await log.append([textChunk('only')])
      await rejectsWith('INVALID_OFFSET', async () => firstFrom(log, offset), 'a log that is shorter')
    },
  ),
  storeCase('log.resume-from', 'resumeFrom answers the offset that open was given, or null', ({ stores }) => {
    const { eventLog } = stores
    assert.equal(eventLog.open({ runId: 'run-1' }).resumeFrom(), null)
    assert.equal(eventLog.open({ runId: 'run-1', offset: null }).resumeFrom(), null)
    assert.equal(eventLog.open({ runId: 'run-1', offset: OFFSET_START }).resumeFrom(), OFFSET_START)
    assert.equal(eventLog.open({ runId: 'run-1' }).runId, 'run-1')
    return Promise.resolve()
  }),
]

const snapshotCases: readonly StoreCase[] = [
  storeCase('log.snapshot.never-opened', 'snapshot of a run that was never opened is empty', async ({ stores }) => {
    assert.deepEqual(await soon(stores.eventLog.open({ runId: 'nothing' }).snapshot(), 'a snapshot'), [])
    assert.equal(await stores.eventLog.find('nothing'), null, 'looking makes no log')
  }),
  storeCase(
    'log.snapshot.never-waits',
    'snapshot gives what is stored now, while the log is open',
    async ({ stores }) => {
      const log = stores.eventLog.open({ runId: 'run-1' })
      await log.append(textChunks(2))
      assert.deepEqual(textsOf(await soon(log.snapshot(), 'a snapshot of an open log')), ['0', '1'])
    },
  ),
  storeCase('log.snapshot.own-array', 'snapshot gives an array that the caller may change', async ({ stores }) => {
    const log = stores.eventLog.open({ runId: 'run-1' })
    await log.append(textChunks(2))
    const entries = await log.snapshot()
    entries.pop()
    if (entries[0]) entries[0].offset = 'changed' as EventOffset
    assert.deepEqual(textsOf(await log.snapshot()), ['0', '1'])
    assert.notEqual((await log.snapshot())[0]?.offset, 'changed')
  }),
]

export const eventReadCases: readonly StoreCase[] = [...tailCases, ...offsetCases, ...snapshotCases]
