import { isHoldfastError, isTerminalRunStatus, systemClock } from '@holdfast/core'
import type { Clock, DriverClaim, HoldfastStores, RunRecord } from '@holdfast/core'
import { EventType } from '@tanstack/ai'
import type { ModelMessage, StreamChunk } from '@tanstack/ai'
import { isThreadHold } from '../checkpoints/thread/thread-hold-id.ts'
import { resumePoint } from '../persistence/resume-point.ts'
import { hasTurn, withoutRun } from '../persistence/run-mark.ts'
import { driveRun } from './drive-run.ts'
import { DRIVER_LEASE_MS } from './heartbeat.ts'
import { endOpenGroups } from './open-groups.ts'
import { closeSession, openSession } from './open-session.ts'
import { Run } from './run.ts'
import type { RunDriver } from './run-driver.ts'
import { messagesSnapshot } from './messages-snapshot.ts'
import { openDriverLog } from './run-event-log.ts'
import { newRunOwner } from './run-owner.ts'
import { loadRunProps } from './run-props.ts'
import type { RunSession } from './run-session.ts'
import { findSession } from './session-registry.ts'
import { settleClaimed, settleOrphan } from './settle-orphan.ts'
import type { SettleResult } from './settle-orphan.ts'
import { tenantOf } from './tenant.ts'
import { isFinalChunk } from './terminal-chunk.ts'
import { warnOf } from '../secrets/warn-of.ts'

/** A run that has brought down this many hosts is not given to another. */
const MAX_DRIVERS = 6

/** Which lost run is to be continued, and by what. */
export interface TakeOverInput {
  stores: HoldfastStores
  runId: string
  driver: RunDriver
  /** Since when nobody watches it: kept for whoever ends runs that nobody comes back for. A claim alone clears it. */
  detachedSince?: number
  clock?: Clock
  /** Called when the run this host now drives could not be ended. */
  onFailure?: (error: unknown) => void
}

/** What became of the lost run. */
export type TakeOverResult = 'taken-over' | SettleResult

/**
 * Continues a run whose host is gone, from its last stored step, and resolves once this host drives it. The log gets the
 * ends of what was open and a snapshot of that step, so that every viewer shows the same from there on. A run that can be
 * replayed is driven again from its beginning, and the log gets what it lacks. A run that was cancelled, had finished or
 * has used up its hosts is settled instead; one that waits for a person goes on waiting. Repeatable; a live driver is
 * never disturbed.
 */
export async function takeOverRun(input: TakeOverInput): Promise<TakeOverResult> {
  const { stores, runId, clock = systemClock } = input
  const record = await stores.runs.get(runId)
  if (record === null) return 'unknown-run'
  if (isTerminalRunStatus(record.status)) return 'ended'
  // Late with its renewals it may be, but it is not dead.
  if (findSession(stores, runId) !== undefined) return 'driven'
  const isSpent = (record.driverEpoch ?? 0) >= MAX_DRIVERS
  // Only a person's answer continues it; what its host left half done is ended.
  const isPaused = record.status === 'interrupted'
  if (record.cancelRequested === true || isSpent || isPaused || isThreadHold(runId))
    return settleOrphan({ stores, runId, clock })
  const claimedAt = clock.monotonic()
  const claim = await claimOrphan(stores, record)
  if (typeof claim === 'string') return claim === 'cancelled' ? settleOrphan({ stores, runId, clock }) : claim
  return continueRun({ ...input, clock }, record, claim, claimedAt)
}

async function claimOrphan(
  stores: HoldfastStores,
  { runId, threadId }: RunRecord,
): Promise<DriverClaim | 'driven' | 'ended' | 'cancelled'> {
  try {
    return await stores.drivers.claim({ runId, threadId, owner: newRunOwner(), ttlMs: DRIVER_LEASE_MS })
  } catch (error) {
    if (isHoldfastError(error, 'DRIVER_HELD')) return 'driven'
    if (isHoldfastError(error, 'RUN_TERMINAL')) return 'ended'
    if (isHoldfastError(error, 'RUN_CANCELLED')) return 'cancelled'
    throw error
  }
}

async function continueRun(
  input: TakeOverInput & { clock: Clock },
  record: RunRecord,
  claim: DriverClaim,
  claimedAt: number,
): Promise<TakeOverResult> {
  const { stores, driver, clock } = input
  const { runId, threadId } = record
  const thread = await stores.threads.find(threadId)
  const tenant = thread === null ? {} : tenantOf(thread.ownerId)
  const session = openSession({ stores, clock, tenant, runId, threadId, claim, claimedAt })
  const { detachedSince } = input
  try {
    if (detachedSince !== undefined) await stores.runs.update(runId, { detachedSince })
    const chunks = (await openDriverLog(session).snapshot()).map((entry) => entry.chunk)
    const stored = await stores.messages.loadThread(threadId)
    const point = resumePoint(stored, runId, driver.tools, clock.now())
    const last = chunks.at(-1)
    const isClosed = (await stores.eventLog.find(runId))?.isClosed === true
    const forwardedProps = await loadRunProps(stores, runId)
    const isReplay = await canReplay(driver, { runId, threadId, forwardedProps })
    const isFinished = point.isFinished && !isReplay
    // A host that died before it had stored what was asked leaves nothing that could be continued.
    const hasBegun = chunks.length > 0 || hasTurn(stored, runId)
    if (isClosed || !hasBegun || isFinished || (last !== undefined && isFinalChunk(last))) {
      closeSession(session)
      await settleClaimed({ stores, record, fence: { runId, epoch: claim.epoch }, chunks, clock })
      return 'settled'
    }
    if (isReplay) {
      startDrive(input, session, { messages: withoutRun(stored, runId), chunks, forwardedProps, isReplay })
      return 'taken-over'
    }
    await stores.messages.saveThread(threadId, point.messages, session.fence)
    startDrive(input, session, { messages: point.messages, chunks, forwardedProps, isReplay })
    return 'taken-over'
  } catch (error) {
    closeSession(session)
    throw error
  }
}

function startDrive(
  { driver, onFailure = warnOf }: TakeOverInput,
  session: RunSession,
  from: {
    messages: ModelMessage[]
    chunks: readonly StreamChunk[]
    forwardedProps: Record<string, unknown>
    isReplay: boolean
  },
): void {
  const { messages, chunks, forwardedProps, isReplay } = from
  const { runId, threadId } = session
  const chat = { runId, threadId, messages, forwardedProps }
  const run = new Run({ session, chat, messages, storedCount: messages.length, detachOnDisconnect: true })
  const stream = streamOf(driver, run, forwardedProps)
  const log = openDriverLog(session)
  const now = session.clock.now()
  const drive = isReplay
    ? driveRun({ session, log, stream, replayed: chunks, ...(chunks.length > 0 ? { opening: [] } : {}) })
    : driveRun({
        session,
        log,
        stream: withoutStart(stream, chunks),
        opening: [...endOpenGroups(chunks, now), messagesSnapshot(messages, now)],
      })
  drive.catch(onFailure)
}

/** A driver that cannot say is asked to drive, where its failure ends the run as it would have in the beginning. */
async function canReplay(
  driver: RunDriver,
  run: Parameters<NonNullable<RunDriver['isJournaled']>>[0],
): Promise<boolean> {
  try {
    return (await driver.isJournaled?.(run)) ?? false
  } catch (error) {
    warnOf(error)
    return false
  }
}

/** A driver that fails at once ends the run, as one does that fails later. */
async function* streamOf(
  driver: RunDriver,
  run: Run,
  forwardedProps: Record<string, unknown>,
): AsyncGenerator<StreamChunk> {
  yield* driver.drive(run, { forwardedProps })
}

/** A run starts once, however many hosts it has. */
async function* withoutStart(
  stream: AsyncIterable<StreamChunk>,
  chunks: readonly StreamChunk[],
): AsyncGenerator<StreamChunk> {
  const hasStarted = chunks.some((chunk) => chunk.type === EventType.RUN_STARTED)
  for await (const chunk of stream) if (!hasStarted || chunk.type !== EventType.RUN_STARTED) yield chunk
}
