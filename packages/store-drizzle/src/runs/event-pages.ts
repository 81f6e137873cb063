import { CorruptDataError, decodeJson, formatEventOffset } from '@holdfast/core'
import type { EventLogEntry } from '@holdfast/core'
import type { StreamChunk } from '@tanstack/ai'
import type { Database } from '../database/database.ts'
import { number, text } from '../database/row.ts'
import type { Row } from '../database/statement.ts'
import { readEvents } from '../statements/read-events.ts'

export interface EventPage {
  entries: EventLogEntry[]
  /** The position of the last entry, or the one that was read after when there is none. */
  position: number
  /** The last position in the log, 0 when it is empty. */
  tail: number
  isClosed: boolean
  /** Tells a log from one that follows it under the same run; undefined while there is none. */
  logId: number | undefined
}

/** A page ends at the batch that reaches one of these. */
const PAGE_BATCHES = 256
const PAGE_BYTES = 1_000_000

/** What is stored strictly after `position`, a bounded part of it. */
export async function readPage(db: Database, runId: string, position: number): Promise<EventPage> {
  const rows = await db.rows(readEvents, [runId, position, PAGE_BATCHES, PAGE_BYTES])
  const [first] = rows
  if (first === undefined) return { entries: [], position, tail: 0, isClosed: false, logId: undefined }
  const entries = rows.filter((row) => row['payload'] !== null).flatMap((row) => batchEntries(row, runId, position))
  return {
    entries: entries.map(({ entry }) => entry),
    position: entries.at(-1)?.seq ?? position,
    tail: number(first, 'tail'),
    isClosed: first['closed_at'] !== null,
    logId: number(first, 'log_id'),
  }
}

interface NumberedEntry {
  seq: number
  entry: EventLogEntry
}

function batchEntries(row: Row, runId: string, after: number): NumberedEntry[] {
  const firstSeq = number(row, 'first_seq')
  const chunks = decodeJson(text(row, 'payload'), 'batch of events')
  if (!Array.isArray(chunks) || chunks.length !== number(row, 'event_count')) {
    throw new CorruptDataError('CORRUPT_DATA', 'A stored batch of events does not have the number of events it names.')
  }
  const numbered = (chunks as StreamChunk[]).map((chunk, index) => ({ seq: firstSeq + index, chunk }))
  return numbered
    .filter(({ seq }) => seq > after)
    .map(({ seq, chunk }) => ({ seq, entry: { offset: formatEventOffset(runId, seq), chunk } }))
}
