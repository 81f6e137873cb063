import { OFFSET_START, formatTailOffsets, isHoldfastError } from '@holdfast/core'
import type { EventLog, EventLogEntry, EventLogOpenInput, EventOffset, HoldfastStores } from '@holdfast/core'
import type { StreamChunk } from '@tanstack/ai'
import { eventLogSuite } from '../../../src/conformance/stores/event-log-suite.ts'
import { override, withBroken } from './store-mutant.ts'
import type { StoreMutant } from './store-mutant.ts'

type LogChange = (log: EventLog, stores: HoldfastStores, input: EventLogOpenInput) => Partial<EventLog>

/** Replaces members of every log that is opened. */
function brokenLog(name: string, change: LogChange, detectedBy: readonly string[], hangs = false): StoreMutant {
  return {
    name,
    hangs,
    suite: eventLogSuite,
    detectedBy,
    change: withBroken('eventLog', (eventLog, stores) => ({
      open: (input) => {
        const log = eventLog.open(input)
        return override(log, change(log, stores, input))
      },
    })),
  }
}

type Read = EventLog['read']

/** A read that passes each entry through `map`, and ends when it gives `undefined`. */
function mappedRead(log: EventLog, map: (entry: EventLogEntry) => EventLogEntry | undefined): Read {
  return async function* (offset, signal) {
    for await (const entry of log.read(offset, signal)) {
      const mapped = map(entry)
      if (mapped === undefined) return
      yield mapped
    }
  }
}

function sortedKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sortedKeys)
  const keys = Object.keys(value).toSorted()
  return Object.fromEntries(keys.map((key) => [key, sortedKeys(Reflect.get(value, key))]))
}

function mapChunks(change: (chunk: StreamChunk) => unknown): LogChange {
  const map = ({ offset, chunk }: EventLogEntry): EventLogEntry => ({ offset, chunk: change(chunk) as StreamChunk })
  return (log) => ({ snapshot: async () => (await log.snapshot()).map(map), read: mappedRead(log, map) })
}

/** Every offset that was given out, with its run. */
function offsetBook(): { note: (runId: string, offsets: EventOffset[]) => EventOffset[]; runOf: Map<string, string> } {
  const runOf = new Map<string, string>()
  return {
    runOf,
    note: (runId, offsets) => {
      for (const offset of offsets) runOf.set(offset, runId)
      return offsets
    },
  }
}

const foreignOffsets = offsetBook()

/** Whoever asks is taken for the driver of the moment. */
async function openAsDriver({ runs, eventLog }: HoldfastStores, runId: string): Promise<EventLog> {
  const epoch = (await runs.get(runId))?.driverEpoch
  return eventLog.open(epoch === undefined ? { runId } : { runId, epoch })
}

/** A writer that goes by what it wrote itself: where the log ends elsewhere, it takes its batch for stored. */
const byOwnCount: LogChange = (log, stores) => {
  let end: number | undefined
  return {
    append: async (chunks) => {
      const length = (await stores.eventLog.find(log.runId))?.length ?? 0
      const tail = (end ?? length) + chunks.length
      const isLast = tail === length + chunks.length
      const offsets = isLast ? await log.append(chunks) : formatTailOffsets(log.runId, tail, chunks.length)
      end = tail
      return offsets
    },
  }
}

export const EVENT_MUTANTS: readonly StoreMutant[] = [
  brokenLog('a writer goes by its own count', byOwnCount, [
    'log.fence.one-claim-two-writers',
    'log.fence.stale-epoch',
    'log.delete.starts-anew',
  ]),
  brokenLog(
    'the epoch is dropped',
    (log, stores) => ({ append: async (chunks) => (await openAsDriver(stores, log.runId)).append(chunks) }),
    ['log.fence.claimed-needs-one', 'log.fence.stale-epoch', 'log.fence.epoch-to-come'],
  ),
  brokenLog(
    'close ignores the epoch',
    (log, stores) => ({ close: async () => (await openAsDriver(stores, log.runId)).close() }),
    ['log.fence.close', 'log.fence.close-needs-one'],
  ),
  brokenLog(
    'read ends on a terminal chunk',
    (log) => ({
      async *read(offset, signal) {
        for await (const entry of log.read(offset, signal)) {
          yield entry
          if (entry.chunk.type === 'RUN_FINISHED' || entry.chunk.type === 'RUN_ERROR') return
        }
      },
    }),
    ['log.read.terminal-chunk-is-not-the-end'],
  ),
  brokenLog(
    'read loses the last event before a close',
    (log, { eventLog }) => ({
      async *read(offset, signal) {
        for await (const entry of log.read(offset, signal)) {
          const tail = (await log.snapshot()).at(-1)?.offset
          const isOpen = (await eventLog.find(log.runId))?.isClosed === false
          if (isOpen || entry.offset !== tail) yield entry
        }
      },
    }),
    ['log.read.closed', 'log.read.strictly-after', 'log.read.many-readers', 'log.append.exact-json'],
  ),
  brokenLog(
    'read starts at the offset instead of after it',
    (log) => ({
      async *read(offset, signal) {
        const at = (await log.snapshot()).find((entry) => entry.offset === offset)
        if (at !== undefined) yield at
        yield* log.read(offset, signal)
      },
    }),
    ['log.read.strictly-after', 'log.read.closed'],
  ),
  brokenLog(
    'snapshot waits for the first event',
    (log) => ({
      snapshot: async () => {
        const stored = await log.snapshot()
        if (stored.length > 0) return stored
        for await (const _first of log.read(OFFSET_START)) return log.snapshot()
        return []
      },
    }),
    [
      'log.snapshot.never-opened',
      'log.append.lossy-is-refused',
      'log.fence.epoch-to-come',
      'log.delete',
      'log.delete-before',
    ],
    true,
  ),
  brokenLog(
    'a batch is appended one by one',
    (log) => ({
      append: async (chunks) => {
        const offsets: EventOffset[] = []
        for (const chunk of chunks) offsets.push(...(await log.append([chunk])))
        return offsets
      },
    }),
    ['log.append.all-or-nothing'],
  ),
  brokenLog(
    'offsets of another run are accepted',
    (log) => ({
      append: async (chunks) => foreignOffsets.note(log.runId, await log.append(chunks)),
      read: (offset, signal) => {
        const owner = foreignOffsets.runOf.get(offset)
        return log.read(owner === undefined || owner === log.runId ? offset : OFFSET_START, signal)
      },
    }),
    ['log.offset.of-another-run'],
  ),
  brokenLog(
    'any offset is accepted',
    (log) => ({
      async *read(offset, signal) {
        try {
          yield* log.read(offset, signal)
        } catch (error) {
          if (!isHoldfastError(error, 'INVALID_OFFSET')) throw error
          yield* log.read(OFFSET_START, signal)
        }
      },
    }),
    ['log.offset.malformed', 'log.offset.of-another-run', 'log.offset.from-the-future'],
    true,
  ),
  brokenLog('keys come back sorted', mapChunks(sortedKeys), ['log.append.exact-json']),
  brokenLog(
    'JSON comes back as a string in JSON',
    mapChunks((chunk) => (chunk.type === 'CUSTOM' ? { ...chunk, value: JSON.stringify(chunk.value) } : chunk)),
    ['log.append.exact-json', 'log.append.is-not-a-json-string', 'log.append.copies'],
  ),
  brokenLog(
    'NUL is lost',
    mapChunks((chunk) => JSON.parse(JSON.stringify(chunk).replaceAll(String.raw`\u0000`, ''))),
    ['log.append.exact-json', 'log.append.10-mb'],
  ),
  brokenLog(
    'a closed log takes appends in silence',
    (log) => ({
      append: (chunks) =>
        log.append(chunks).catch((error: unknown) => {
          if (isHoldfastError(error, 'LOG_CLOSED')) return []
          throw error
        }),
    }),
    ['log.close.refuses-appends'],
  ),
  {
    name: 'retention takes open logs',
    suite: eventLogSuite,
    change: withBroken('eventLog', (eventLog) => ({
      deleteBefore: async (input) => {
        if (Number.isFinite(input.closedBefore) && (await eventLog.find('open'))?.isClosed === false) {
          await eventLog.delete('open')
        }
        return eventLog.deleteBefore(input)
      },
    })),
    detectedBy: ['log.delete-before'],
  },
]
