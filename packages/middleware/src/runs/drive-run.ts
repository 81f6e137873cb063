import { isHoldfastError } from '@holdfast/core'
import { orAborted } from '@holdfast/core/provider-kit'
import { EventType, RUN_ACCEPTED_EVENT } from '@tanstack/ai'
import type { ModelMessage, StreamChunk } from '@tanstack/ai'
import type { EventLog } from '@holdfast/core'
import { ReplayAlignment } from '../agent/align-replay.ts'
import { ChunkRedactor } from '../secrets/chunk-redactor.ts'
import { finalizeRun } from './finalize-run.ts'
import { LogWriter } from './log-writer.ts'
import { messagesSnapshot } from './messages-snapshot.ts'
import { outcomeOfEnd } from './outcome-of-end.ts'
import { toRunError } from './run-error.ts'
import type { RunOutcome } from './run-outcome.ts'
import type { RunSession } from './run-session.ts'
import { isTerminalChunk } from './terminal-chunk.ts'
import { whenUnwindingTakesTooLong } from './unwinding.ts'

export interface DriveInput {
  session: RunSession
  log: EventLog
  stream: AsyncIterable<StreamChunk>
  /** What the log gets first. Default: the event that lets a join attach. */
  opening?: readonly StreamChunk[]
  /** The conversation, when the run goes on in the middle of a turn: who joins it has only its events to show that turn. */
  conversation?: readonly ModelMessage[]
  /** What the log has already of a stream that begins again; of the stream only the rest is added. */
  replayed?: readonly StreamChunk[]
}

/**
 * Produces a run's events into its log until the stream ends or the run is stopped, then finalizes. The last terminal
 * chunk is held back until transcript, sandbox and checkpoint are done: whoever reads it can rely on them. Never rejects
 * for a failure of the run itself; rejects when the end could not be stored.
 */
export function driveRun(input: DriveInput): Promise<void> {
  const { trace } = input.session
  return trace === undefined ? produce(input) : trace.within(() => produce(input))
}

async function produce({ session, log, stream, opening, replayed, conversation }: DriveInput): Promise<void> {
  const writer = new LogWriter({ log, logs: session.stores.eventLog, clock: session.clock, isNew: session.epoch === 1 })
  const held: { chunk?: StreamChunk } = {}
  let outcome: RunOutcome
  try {
    for (const chunk of opening ?? openingOf(session.clock.now(), conversation)) await writer.push(chunk)
    await pump(session, stream, new ReplayAlignment(replayed ?? []), writer, held)
    await writer.flush()
    outcome = outcomeOfEnd(session, held.chunk)
  } catch (error) {
    outcome = outcomeOfError(session, error)
    await storeRest(session, writer)
  }
  await finalizeRun({ session, log, outcome, held: held.chunk, needsTerminal: true })
}

function openingOf(timestamp: number, conversation: readonly ModelMessage[] | undefined): StreamChunk[] {
  const accepted = acceptedChunk(timestamp)
  return conversation === undefined ? [accepted] : [accepted, messagesSnapshot(conversation, timestamp)]
}

/** Lets a join attach before the first real event, which a sandbox build can delay for minutes. */
function acceptedChunk(timestamp: number): StreamChunk {
  return { type: EventType.CUSTOM, name: RUN_ACCEPTED_EVENT, value: {}, timestamp } as StreamChunk
}

async function pump(
  session: RunSession,
  stream: AsyncIterable<StreamChunk>,
  alignment: ReplayAlignment,
  writer: LogWriter,
  held: { chunk?: StreamChunk },
): Promise<void> {
  const iterator = stream[Symbol.asyncIterator]()
  const overdue = whenUnwindingTakesTooLong(session)
  const redaction = redactionOf(session)
  const store = async (chunk: StreamChunk): Promise<void> => {
    // The log has what is left of an event without its secrets, so that is what is compared.
    if (alignment.push(chunk).length === 0) return
    if (held.chunk !== undefined) await writer.push(held.chunk)
    delete held.chunk
    if (isTerminalChunk(chunk)) held.chunk = chunk
    else await writer.push(chunk)
  }
  try {
    for (;;) {
      const next = await nextOf(iterator, overdue.signal)
      if (next === undefined || next.done === true) break
      for (const chunk of redaction.push(next.value)) await store(chunk)
    }
    for (const chunk of redaction.flush()) await store(chunk)
    if (session.stopReason === undefined) alignment.end()
  } finally {
    overdue.dispose()
    abandon(iterator)
  }
}

/** The secrets become known while the stream is set up, which is before they could be in it. */
function redactionOf(session: RunSession): Pick<ChunkRedactor, 'push' | 'flush'> {
  let redactor: ChunkRedactor | undefined
  return {
    push(chunk) {
      if (session.redactor === undefined) return [chunk]
      redactor ??= new ChunkRedactor(session.redactor)
      return redactor.push(chunk)
    },
    flush: () => redactor?.flush() ?? [],
  }
}

/** A stream that ignores the stop is left behind: its later failure has nobody to report to. */
function abandon(iterator: AsyncIterator<StreamChunk>): void {
  Promise.resolve(iterator.return?.()).catch(() => undefined)
}

/** Undefined for a stream that is given up. */
async function nextOf(
  iterator: AsyncIterator<StreamChunk>,
  overdue: AbortSignal,
): Promise<IteratorResult<StreamChunk> | undefined> {
  try {
    return await orAborted(iterator.next(), overdue)
  } catch (error) {
    if (overdue.aborted) return undefined
    throw error
  }
}

function outcomeOfError(session: RunSession, error: unknown): RunOutcome {
  if (isHoldfastError(error, 'DRIVER_LOST')) {
    session.stop('lost')
    return { status: 'lost' }
  }
  return session.stoppedOutcome() ?? { status: 'failed', error: toRunError(error, session.redactor) }
}

/** What was produced before a failure is stored if it can be; a store that fails here fails the finalization too. */
async function storeRest(session: RunSession, writer: LogWriter): Promise<void> {
  try {
    await writer.flush()
  } catch (error) {
    if (isHoldfastError(error, 'DRIVER_LOST')) session.stop('lost')
  }
}
