import { systemClock } from '../../clock.ts'
import type { Clock } from '../../clock.ts'
import { InvalidInputError, ProviderError } from '../../errors/error-classes.ts'
import { FirstByteWatch } from './first-byte-watch.ts'
import { followJournal } from './follow-journal.ts'
import { JournalLines } from './journal-lines.ts'
import type { JournalExit, JournalLine } from './journal-lines.ts'
import type { JournalHandle, JournalLocation } from './journal-location.ts'
import { assertNonce, MAX_MARKER_BYTES } from './journal-marker.ts'
import { journalName } from './journal-name.ts'
import type { JournalSource } from './journal-piece.ts'
import { pollJournal } from './poll-journal.ts'
import type { JournalSourceInput } from './poll-journal.ts'
import { untilAborted } from './until-aborted.ts'

/** `follow` keeps a reader running in the sandbox, `poll` asks again and again. */
export type JournalReadMode = 'auto' | 'follow' | 'poll'

/** Where to read a journal from, and how long to wait for it. */
export interface ReadJournalInput extends JournalLocation {
  /** What the journal was started with. */
  nonce: string
  /** Byte position to read from; any will do. Default 0. */
  from?: number
  /** Default `auto`: follow where processes can be started and surely killed, else poll. */
  mode?: JournalReadMode
  /** How long a journal may stay empty. Default 10 s; 0 for no limit. After the first byte there is none. */
  firstByteTimeoutMs?: number
  /** Longest line in bytes. Default 16 MiB. */
  maxLineBytes?: number
  /** Ends the reading, not the process. */
  signal?: AbortSignal
  clock?: Clock
}

export const FIRST_BYTE_TIMEOUT_MS = 10_000
const MAX_LINE_BYTES = 16 * 1024 * 1024

/**
 * The lines of a journal from a byte position on, each whole and with the position after it, and at last how the
 * process ended. Any number of hosts may read at the same time. Rejects with `JOURNAL_NOT_FOUND`, `JOURNAL_STALLED`
 * when it stays empty, `PROCESS_EXIT_UNKNOWN` when the process was lost without a word, `INVALID_OFFSET` for a position
 * beyond the end, `LIMIT_EXCEEDED` for an overlong line, the signal's reason, or the provider's codes once retries did
 * not help.
 */
export async function* readJournal(input: ReadJournalInput): AsyncGenerator<JournalLine | JournalExit, void> {
  const { runId, from = 0, clock = systemClock, maxLineBytes = MAX_LINE_BYTES } = input
  const nonce = assertNonce(input.nonce)
  journalName(runId)
  if (!Number.isSafeInteger(from) || from < 0) throw badPosition()
  const start = Math.max(0, from - MAX_MARKER_BYTES)
  const lines = new JournalLines({ start, from, nonce, maxLineBytes })
  const isFollowed = canFollow(input.handle, input.mode ?? 'auto')
  const sources = isFollowed ? [pollOnce, followJournal, pollJournal] : [pollJournal]
  const timeoutMs = input.firstByteTimeoutMs ?? FIRST_BYTE_TIMEOUT_MS
  const watch = new FirstByteWatch({ runId, timeoutMs, from, clock })
  // What still waits in the sandbox when the reading is over ends with it.
  const over = new AbortController()
  try {
    for (const open of sources) {
      const source = open({ ...input, start: lines.position, clock, signal: over.signal })
      for await (const piece of untilAborted(source, input.signal)) {
        watch.see(piece)
        for (const item of lines.push(piece.bytes)) {
          yield item
          if (item.type === 'exit') return
        }
        if (piece.isAtEnd && piece.liveness === 'dead') throw exitUnknown(runId)
      }
    }
  } finally {
    over.abort()
  }
  throw exitUnknown(runId)
}

/** Tells a missing journal from an unreachable sandbox before a reader is started. */
async function* pollOnce(input: JournalSourceInput): JournalSource {
  for await (const piece of pollJournal(input)) {
    yield piece
    if (piece.isAtEnd) return
  }
}

function canFollow({ capabilities }: JournalHandle, mode: JournalReadMode): boolean {
  if (mode !== 'auto') return mode === 'follow'
  return capabilities.backgroundProcesses && capabilities.killableProcesses
}

function exitUnknown(runId: string): ProviderError {
  const message = `The command of run ${runId} was lost, so that it is unknown how it ended.`
  return new ProviderError('PROCESS_EXIT_UNKNOWN', message, { details: { runId } })
}

function badPosition(): InvalidInputError {
  return new InvalidInputError('INVALID_OFFSET', 'A journal position is a whole number of bytes, 0 or more.')
}
