import { systemClock } from '../../clock.ts'
import type { Clock } from '../../clock.ts'
import { InvalidInputError, ProviderError } from '../../errors/error-classes.ts'
import { assertMs } from '../../identifier.ts'
import { followJournal } from './follow-journal.ts'
import { JournalLines } from './journal-lines.ts'
import type { JournalExit, JournalLine } from './journal-lines.ts'
import type { JournalHandle, JournalLocation } from './journal-location.ts'
import { assertNonce, MAX_MARKER_BYTES } from './journal-marker.ts'
import { journalName } from './journal-name.ts'
import type { JournalPiece, JournalSource } from './journal-piece.ts'
import { pollJournal } from './poll-journal.ts'
import type { JournalSourceInput } from './poll-journal.ts'

/** `follow` keeps a reader running in the sandbox, `poll` asks again and again. */
export type JournalReadMode = 'auto' | 'follow' | 'poll'

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
 * The lines of a journal from a byte position on, each whole and with the position after it, and at last how the process
 * ended. Any number of hosts may read at the same time. Rejects with `JOURNAL_NOT_FOUND`, `JOURNAL_STALLED` when it stays
 * empty, `PROCESS_EXIT_UNKNOWN` when the process was lost without a word, `INVALID_OFFSET` for a position beyond the end,
 * `LIMIT_EXCEEDED` for an overlong line, the signal's reason, or the provider's codes once retries did not help.
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
  const deadline = firstByteDeadline(input, clock)
  try {
    for (const open of sources) {
      const source = open({ ...input, start: lines.position, clock, signal: deadline.signal })
      for await (const piece of deadline.guard(source)) {
        for (const item of lines.push(piece.bytes)) {
          yield item
          if (item.type === 'exit') return
        }
        if (piece.isAtEnd && piece.liveness === 'dead') throw exitUnknown(runId)
      }
    }
  } finally {
    deadline.dispose()
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

interface Deadline {
  /** Aborts when the reading is over, so that what still waits in the sandbox ends too. */
  readonly signal: AbortSignal
  guard: (source: JournalSource) => AsyncGenerator<JournalPiece, void>
  dispose: () => void
}

/** Ends the reading when no first byte comes in time, or the signal aborts, whatever the source is waiting for. */
function firstByteDeadline({ runId, firstByteTimeoutMs, signal, from = 0 }: ReadJournalInput, clock: Clock): Deadline {
  const timeoutMs = assertMs('firstByteTimeoutMs', firstByteTimeoutMs ?? FIRST_BYTE_TIMEOUT_MS)
  let stop: (error: unknown) => void = () => undefined
  const stopped = new Promise<never>((_, reject) => {
    stop = reject
  })
  stopped.catch(() => undefined)
  const onAbort = (): void => stop(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  if (signal?.aborted === true) onAbort()
  const hasLimit = timeoutMs > 0 && from === 0
  const cancelTimer = hasLimit ? clock.schedule(timeoutMs, () => stop(stalled(runId, timeoutMs))) : () => undefined
  const over = new AbortController()
  return {
    signal: over.signal,
    dispose() {
      cancelTimer()
      over.abort()
      signal?.removeEventListener('abort', onAbort)
    },
    async *guard(source) {
      let next: Promise<IteratorResult<JournalPiece, void>> | undefined
      try {
        for (;;) {
          const result = await Promise.race([stopped, (next = source.next())])
          if (result.done === true) return
          if (result.value.bytes.length > 0) cancelTimer()
          yield result.value
        }
      } finally {
        // A source that is still waiting cannot be ended before it has what it waits for.
        next?.catch(() => undefined)
        void source.return().catch(() => undefined)
      }
    },
  }
}

function stalled(runId: string, timeoutMs: number): ProviderError {
  const message = `The command of run ${runId} has printed nothing for ${timeoutMs} ms.`
  return new ProviderError('JOURNAL_STALLED', message, { details: { runId, timeoutMs } })
}

function exitUnknown(runId: string): ProviderError {
  const message = `The command of run ${runId} was lost, so that it is unknown how it ended.`
  return new ProviderError('PROCESS_EXIT_UNKNOWN', message, { details: { runId } })
}

function badPosition(): InvalidInputError {
  return new InvalidInputError('INVALID_OFFSET', 'A journal position is a whole number of bytes, 0 or more.')
}
