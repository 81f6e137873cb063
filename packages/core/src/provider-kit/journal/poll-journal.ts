import { sleep } from '../../clock.ts'
import type { Clock } from '../../clock.ts'
import { InvalidInputError, NotFoundError, ProviderError } from '../../errors/error-classes.ts'
import { isHoldfastError } from '../../errors/holdfast-error.ts'
import { journalExec, journalFailed } from './journal-exec.ts'
import { isLiveness, LIVENESS } from './journal-liveness.ts'
import { locationLines } from './journal-location.ts'
import type { JournalLocation } from './journal-location.ts'
import { afterStart, BLOCK_BYTES, fromBase64 } from './journal-piece.ts'
import type { JournalPiece, JournalSource } from './journal-piece.ts'

/** What one poll fetches at most. */
const POLL_BLOCKS = 64

const FIRST_PAUSE_MS = 50
const MAX_PAUSE_MS = 2_000
const PAUSE_GROWTH = 1.5
/** Waits before a poll is tried again that the sandbox did not answer. */
const RETRY_DELAYS_MS = [250, 1_000, 3_000, 6_000]

export interface JournalSourceInput extends JournalLocation {
  start: number
  clock: Clock
  signal: AbortSignal | undefined
}

/** Asks again and again, less often while nothing comes. A sandbox that does not answer is asked a few times more. */
export async function* pollJournal(input: JournalSourceInput): JournalSource {
  const { clock, signal } = input
  let { start } = input
  let pauseMs = FIRST_PAUSE_MS
  for (;;) {
    const piece = await withRetries(input, () => readPiece({ ...input, start }))
    start += piece.bytes.length
    yield piece
    if (piece.isAtEnd && piece.liveness === 'dead') return
    pauseMs = piece.bytes.length > 0 ? FIRST_PAUSE_MS : Math.min(MAX_PAUSE_MS, pauseMs * PAUSE_GROWTH)
    if (piece.isAtEnd || piece.bytes.length === 0) await sleep(clock, pauseMs, signal)
  }
}

/** One bounded read. `JOURNAL_NOT_FOUND`, `INVALID_OFFSET` for a start beyond the end, and the provider codes. */
export async function readPiece(
  input: JournalLocation & { start: number; signal?: AbortSignal | undefined },
): Promise<JournalPiece> {
  const { start, runId, signal } = input
  const result = await journalExec(input.handle, pollScript(input, start), { operation: 'journal read', signal })
  if (result.exitCode !== 0) throw journalFailed('journal read', result)
  const [liveness, size = '', text] = result.stdout.split('\n')
  if (liveness === 'none') throw journalNotFound(runId)
  if (!isLiveness(liveness) || !/^\d+$/.test(size) || text === undefined) throw answerLost(runId)
  if (start > Number(size)) throw beyondEnd(runId)
  const bytes = afterStart(fromBase64(text), start)
  return { bytes, liveness, isAtEnd: start + bytes.length >= Number(size) }
}

function pollScript(location: JournalLocation, start: number): string {
  const skip = Math.floor(start / BLOCK_BYTES)
  return [
    locationLines(location),
    '[ -e "$b.out" ] || { echo none; exit 0; }',
    LIVENESS,
    'liveness; echo "$hf_l"; echo $(( $(wc -c <"$b.out") ))',
    `dd if="$b.out" bs=${BLOCK_BYTES} skip=${skip} count=${POLL_BLOCKS} 2>/dev/null | base64 | tr -d '\\n'`,
  ].join('\n')
}

async function withRetries<T>(input: JournalSourceInput, read: () => Promise<T>): Promise<T> {
  for (const delayMs of RETRY_DELAYS_MS) {
    try {
      return await read()
    } catch (error) {
      if (!isHoldfastError(error) || !error.retryable) throw error
      await sleep(input.clock, delayMs, input.signal)
    }
  }
  return read()
}

export function journalNotFound(runId: string): NotFoundError {
  return new NotFoundError('JOURNAL_NOT_FOUND', `This sandbox has no journal of run ${runId}.`, { details: { runId } })
}

function beyondEnd(runId: string): InvalidInputError {
  const message = `The position lies beyond the end of the journal of run ${runId}.`
  return new InvalidInputError('INVALID_OFFSET', message, { details: { runId } })
}

function answerLost(runId: string): ProviderError {
  const message = `The answer about the journal of run ${runId} was lost on its way from the sandbox.`
  return new ProviderError('PROVIDER_UNAVAILABLE', message, { details: { runId }, retryable: true })
}
