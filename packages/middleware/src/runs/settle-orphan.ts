import { isHoldfastError, isTerminalRunStatus, systemClock } from '@holdfast/core'
import type { Clock, EventLog, HoldfastStores, RunRecord, WriteFence } from '@holdfast/core'
import type { ModelMessage, StreamChunk } from '@tanstack/ai'
import { noteUnsavedEnd } from '../checkpoints/run/note-unsaved-end.ts'
import { followHead } from '../checkpoints/thread/follow-head.ts'
import { condemnSandboxes } from '../definition/condemn-sandboxes.ts'
import { closeWaitingToolCalls } from '../persistence/open-tool-calls.ts'
import { resumePoint } from '../persistence/resume-point.ts'
import { settledTranscript, showsTranscript } from '../persistence/settled-transcript.ts'
import { DRIVER_LEASE_MS } from './heartbeat.ts'
import { messagesSnapshot } from './messages-snapshot.ts'
import { endOpenGroups } from './open-groups.ts'
import { outcomeOfLastChunk } from './outcome-of-end.ts'
import type { RunOutcome } from './run-outcome.ts'
import { newRunOwner } from './run-owner.ts'
import {
  HOST_LOST_CODE,
  isCancelChunk,
  isFinalChunk,
  isInterruptChunk,
  isTerminalChunk,
  terminalChunkFor,
} from './terminal-chunk.ts'

/** Which lost run is to be ended. */
export interface SettleOrphanInput {
  stores: HoldfastStores
  runId: string
  clock?: Clock
}

/** `driven`: a live host has it. `ended`: nothing to do; it has ended, or waits for a person. */
export type SettleResult = 'settled' | 'driven' | 'ended' | 'unknown-run'

/**
 * Finishes a run whose host is gone: the log gets its last event and is closed, the transcript gets what the log has, the
 * record gets its end. A host that comes back afterwards is refused by the store. Repeatable; a crash in the middle is
 * finished by the next call after the lease.
 */
export async function settleOrphan(input: SettleOrphanInput): Promise<SettleResult> {
  const { stores, runId, clock = systemClock } = input
  const record = await stores.runs.get(runId)
  if (record === null) return 'unknown-run'
  if (isTerminalRunStatus(record.status)) return 'ended'
  if (await isAtRest(stores, record)) return 'ended'
  const fence = await claimDead(stores, record)
  if (fence === 'driven' || fence === 'ended') return fence
  const chunks = (await stores.eventLog.open(fence).snapshot()).map((entry) => entry.chunk)
  await settleClaimed({ stores, record, fence, chunks, clock })
  return 'settled'
}

/** A claim of a run that waits for a person, however short, would refuse the answer of that person. */
async function isAtRest({ eventLog }: HoldfastStores, { runId, status, cancelRequested }: RunRecord): Promise<boolean> {
  if (status !== 'interrupted' || cancelRequested === true) return false
  return (await eventLog.find(runId))?.isClosed === true
}

export interface SettleClaimedInput {
  stores: HoldfastStores
  record: RunRecord
  fence: WriteFence
  chunks: readonly StreamChunk[]
  clock: Clock
}

/** The same for a run that this host has claimed. */
export async function settleClaimed(input: SettleClaimedInput): Promise<void> {
  const { stores, record, fence, chunks, clock } = input
  const { runId, threadId } = record
  const cancel = await stores.drivers.findCancel(runId)
  const now = clock.now()
  const stored = await stores.messages.loadThread(threadId)
  const isClosed = (await stores.eventLog.find(runId))?.isClosed === true
  const { isFinished } = resumePoint(stored, runId, [], now)
  const outcome = outcomeOf({ last: chunks.at(-1), isClosed, isFinished, isCancelled: cancel !== null })
  // A run that waits for a person stored all there was before it paused, and the call that waits stays open.
  const decided = record.status === 'interrupted' ? closeWaitingToolCalls(stored, now) : stored
  const messages =
    outcome.status === 'interrupted' ? stored : settledTranscript({ stored: decided, chunks, runId, now })
  if (!isClosed) await endLog({ log: stores.eventLog.open(fence), record, outcome, chunks, messages, now })
  if (messages.length !== stored.length) await stores.messages.saveThread(threadId, messages, fence)
  if (outcome.status === 'aborted') {
    await cancelInterrupts(stores, runId)
    // A paused run left its sandbox in order; of a dead host's processes nobody knows whether they ended.
    const isKept = record.status === 'interrupted' && cancel?.keepSandbox === true
    if (!isKept) await condemnSandboxes({ stores, threadId, runId, clock })
  }
  await followHead(stores, threadId, fence)
  const { status } = outcome
  if (status === 'completed' || status === 'failed') await noteUnsavedEnd(stores, { threadId, runId, status, now })
  await finish(stores, fence, outcome)
}

/** Nobody is asked any more. */
async function cancelInterrupts(stores: HoldfastStores, runId: string): Promise<void> {
  for (const { interruptId } of await stores.interrupts.listPendingByRun(runId))
    await stores.interrupts.cancel(interruptId)
}

async function claimDead(stores: HoldfastStores, record: RunRecord): Promise<WriteFence | 'driven' | 'ended'> {
  const { runId, threadId } = record
  try {
    const owner = newRunOwner()
    const { epoch } = await stores.drivers.claim({
      runId,
      threadId,
      owner,
      ttlMs: DRIVER_LEASE_MS,
      purpose: 'finalize',
    })
    return { runId, epoch }
  } catch (error) {
    if (isHoldfastError(error, 'DRIVER_HELD')) return 'driven'
    if (isHoldfastError(error, 'RUN_TERMINAL')) return 'ended'
    throw error
  }
}

/** What the log says of its end stands; then what the transcript says. A pause is no end. */
function outcomeOf(run: {
  last: StreamChunk | undefined
  isClosed: boolean
  isFinished: boolean
  isCancelled: boolean
}): RunOutcome {
  const { last, isClosed, isFinished, isCancelled } = run
  const hasEnded = last !== undefined && (isFinalChunk(last) || (isClosed && isTerminalChunk(last)))
  const wasCancelled = hasEnded ? isCancelChunk(last) || (isCancelled && isInterruptChunk(last)) : isCancelled
  if (hasEnded && !wasCancelled) return outcomeOfLastChunk(last)
  if (!hasEnded && isFinished) return { status: 'completed' }
  if (wasCancelled) return { status: 'aborted', keepSandbox: true }
  return { status: 'failed', error: { message: 'The host that ran this died.', code: HOST_LOST_CODE } }
}

async function endLog(input: {
  log: EventLog
  record: RunRecord
  outcome: RunOutcome
  chunks: readonly StreamChunk[]
  messages: readonly ModelMessage[]
  now: number
}): Promise<void> {
  const { log, record, outcome, chunks, messages, now } = input
  const { runId, threadId } = record
  const last = chunks.at(-1)
  if (last === undefined || !isFinalChunk(last)) {
    const isShown = showsTranscript({ stored: messages, chunks, runId })
    const snapshot = isShown ? [] : [messagesSnapshot(messages, now)]
    const end = terminalChunkFor(outcome, undefined, { runId, threadId, now })
    await log.append([...endOpenGroups(chunks, now), ...snapshot, end])
  }
  await log.close()
}

async function finish(stores: HoldfastStores, fence: WriteFence, outcome: RunOutcome): Promise<void> {
  if (outcome.status === 'detached' || outcome.status === 'lost') return
  await stores.drivers.finish({
    ...fence,
    status: outcome.status,
    ...(outcome.status === 'failed' ? { error: outcome.error } : {}),
  })
}
