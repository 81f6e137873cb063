import { isHoldfastError, isTerminalRunStatus, systemClock } from '@holdfast/core'
import type { Clock, EventLog, HoldfastStores, RunRecord, WriteFence } from '@holdfast/core'
import { EventType } from '@tanstack/ai'
import type { StreamChunk } from '@tanstack/ai'
import { saveSettledTranscript } from '../persistence/settled-transcript.ts'
import { DRIVER_LEASE_MS } from './heartbeat.ts'
import { outcomeOfLastChunk } from './outcome-of-end.ts'
import type { RunOutcome } from './run-outcome.ts'
import { newRunOwner } from './run-owner.ts'
import { HOST_LOST_CODE, isTerminalChunk, terminalChunkFor } from './terminal-chunk.ts'

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
  const log = stores.eventLog.open(fence)
  const chunks = (await log.snapshot()).map((entry) => entry.chunk)
  const cancel = await stores.drivers.findCancel(runId)
  const outcome = outcomeOf(chunks.at(-1), cancel !== null)
  await endLog({ stores, log, record, outcome, last: chunks.at(-1), now: clock.now() })
  await saveSettledTranscript({ stores, threadId: record.threadId, fence, chunks, now: clock.now() })
  await finish(stores, fence, outcome)
  return 'settled'
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

/** A host that died between the last event and the record had finished; any other had not. */
function outcomeOf(last: StreamChunk | undefined, cancelled: boolean): RunOutcome {
  if (last !== undefined && isFinal(last)) return outcomeOfLastChunk(last)
  if (cancelled) return { status: 'aborted', keepSandbox: true }
  return { status: 'failed', error: { message: 'The host that ran this died.', code: HOST_LOST_CODE } }
}

/** A turn that ended in tool calls is followed by more. */
function isFinal(chunk: StreamChunk): boolean {
  if (!isTerminalChunk(chunk)) return false
  return chunk.type === EventType.RUN_ERROR || Reflect.get(chunk, 'finishReason') !== 'tool_calls'
}

async function endLog(input: {
  stores: HoldfastStores
  log: EventLog
  record: RunRecord
  outcome: RunOutcome
  last: StreamChunk | undefined
  now: number
}): Promise<void> {
  const { stores, log, record, outcome, last, now } = input
  const info = await stores.eventLog.find(record.runId)
  if (info?.isClosed === true) return
  if (last === undefined || !isFinal(last)) {
    await log.append([terminalChunkFor(outcome, undefined, { runId: record.runId, threadId: record.threadId, now })])
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
