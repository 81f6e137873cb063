import { isHoldfastError, isTerminalRunStatus, systemClock } from '@holdfast/core'
import type { Clock, EventLog, HoldfastStores, RunRecord, WriteFence } from '@holdfast/core'
import type { StreamChunk } from '@tanstack/ai'
import { saveSettledTranscript } from '../persistence/settled-transcript.ts'
import { DRIVER_LEASE_MS } from './heartbeat.ts'
import { endOpenGroups } from './open-groups.ts'
import { outcomeOfLastChunk } from './outcome-of-end.ts'
import type { RunOutcome } from './run-outcome.ts'
import { newRunOwner } from './run-owner.ts'
import { HOST_LOST_CODE, isFinalChunk, isInterruptChunk, terminalChunkFor } from './terminal-chunk.ts'

export interface SettleOrphanInput {
  stores: HoldfastStores
  runId: string
  clock?: Clock
}

/** `driven`: a live host has it. `ended`: nothing to do. */
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
  const fence = await claimDead(stores, record)
  if (fence === 'driven' || fence === 'ended') return fence
  const chunks = (await stores.eventLog.open(fence).snapshot()).map((entry) => entry.chunk)
  await settleClaimed({ stores, record, fence, chunks, isFinished: false, clock })
  return 'settled'
}

export interface SettleClaimedInput {
  stores: HoldfastStores
  record: RunRecord
  fence: WriteFence
  chunks: readonly StreamChunk[]
  /** The transcript has the model's last answer already. */
  isFinished: boolean
  clock: Clock
}

/** The same for a run that this host has claimed. */
export async function settleClaimed(input: SettleClaimedInput): Promise<void> {
  const { stores, record, fence, chunks, clock } = input
  const { runId, threadId } = record
  const cancel = await stores.drivers.findCancel(runId)
  const outcome = input.isFinished ? { status: 'completed' as const } : outcomeOf(chunks.at(-1), cancel !== null)
  await endLog({ stores, log: stores.eventLog.open(fence), record, outcome, chunks, now: clock.now() })
  await saveSettledTranscript({ stores, threadId, fence, chunks, now: clock.now() })
  if (outcome.status === 'aborted') await cancelInterrupts(stores, runId)
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

/** A host that died between the last event and the record had finished; any other had not. A pause is no end. */
function outcomeOf(last: StreamChunk | undefined, cancelled: boolean): RunOutcome {
  const hasEnded = last !== undefined && isFinalChunk(last)
  if (cancelled && (!hasEnded || isInterruptChunk(last))) return { status: 'aborted', keepSandbox: true }
  if (hasEnded) return outcomeOfLastChunk(last)
  return { status: 'failed', error: { message: 'The host that ran this died.', code: HOST_LOST_CODE } }
}

async function endLog(input: {
  stores: HoldfastStores
  log: EventLog
  record: RunRecord
  outcome: RunOutcome
  chunks: readonly StreamChunk[]
  now: number
}): Promise<void> {
  const { stores, log, record, outcome, chunks, now } = input
  const info = await stores.eventLog.find(record.runId)
  if (info?.isClosed === true) return
  const last = chunks.at(-1)
  if (last === undefined || !isFinalChunk(last)) {
    const ids = { runId: record.runId, threadId: record.threadId, now }
    await log.append([...endOpenGroups(chunks, now), terminalChunkFor(outcome, undefined, ids)])
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
