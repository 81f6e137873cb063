import { isHoldfastError, sleep, systemClock } from '@holdfast/core'
import type { Clock, DriverClaim, HoldfastStores } from '@holdfast/core'
import type { ModelMessage } from '@tanstack/ai'
import type { BeginRunInput, WhenBusy } from './begin-run-input.ts'
import { adoptRun } from './adopt-run.ts'
import { cancelRun } from './cancel-run.ts'
import { answerPauses, assertUnanswered, giveUpPauses } from '../persistence/answer-pauses.ts'
import { closeWaitingToolCalls } from '../persistence/open-tool-calls.ts'
import { markTurn } from '../persistence/run-mark.ts'
import { assertNotBegun } from './assert-not-begun.ts'
import { loadTelemetry } from '../telemetry/load-telemetry.ts'
import { DRIVER_LEASE_MS } from './heartbeat.ts'
import { mergeTurn } from './merge-turn.ts'
import { closeSession, drivenHere, openSession } from './open-session.ts'
import type { ChatRequest } from './request-body.ts'
import { Run } from './run.ts'
import { toRunError } from './run-error.ts'
import { saveRunProps } from './run-props.ts'
import type { RunDriver } from './run-driver.ts'
import { newRunOwner } from './run-owner.ts'
import type { RunSession } from './run-session.ts'
import { findSession } from './session-registry.ts'
import { findOwnThread } from './own-thread.ts'
import { ownerIdOf } from './tenant.ts'
import { runErrorChunk } from './terminal-chunk.ts'
import { titleOf } from './thread-title.ts'

/** A run whose log has ended is about to free its thread; a send that comes in between waits this long. */
const FINISHING_WAITS_MS = [25, 50, 100, 200, 400, 800, 1_600]

/** Longest wait for a cancelled run to end: its host hears of it within 2 s, and its sandbox may have to go. */
const CANCEL_WAIT_MS = 30_000
const CANCEL_POLL_MS = 50

export interface StartRunInput extends Omit<BeginRunInput, 'request' | 'chat'> {
  chat: ChatRequest
  /**
   * Claimed for a chat that is set up already. Whether it answers a pause shows later, so it needs no new message and
   * closes no pause; and no other chat may take the run for its own.
   */
  fromChat?: boolean
}

/** `beginRun` for a thread that is free or made free. What it rejects with is said there. */
export async function startRun(input: StartRunInput): Promise<Run> {
  const { stores, chat, clock = systemClock, tenant = {} } = input
  const ownerId = ownerIdOf(tenant)
  const thread = await findOwnThread(stores, chat.threadId, tenant)
  if (findSession(stores, chat.runId) !== undefined) throw drivenHere(chat.runId)

  const { runId, threadId, resume = [] } = chat
  // Before the claim, which leaves a record. The same answer sent again finds its run there, and is led to it.
  if (resume.length > 0 && (await stores.runs.get(runId)) === null) await assertUnanswered({ stores, threadId }, resume)
  await loadTelemetry()
  const claimedAt = clock.monotonic()
  const { whenBusy = 'reject', driver } = input
  const claim = await claimThread({ stores, clock, runId, threadId, whenBusy, driver })
  await assertNotBegun(stores, chat, claim)
  const isOfChat = input.fromChat ?? false
  const session = openSession({ stores, clock, tenant, runId, threadId, claim, claimedAt, isOfChat })
  try {
    if (thread === null) {
      await stores.threads.ensure({ threadId: chat.threadId, ownerId, title: titleOf(chat.messages) })
    }
    // Once more under the claim, which may have waited for the run of another answer.
    if (claim.created) await assertUnanswered({ stores, threadId }, resume)
    const { messages, storedCount } = await storeTurn(session, chat, isOfChat)
    return new Run({ session, chat, messages, storedCount, detachOnDisconnect: input.detachOnDisconnect ?? true })
  } catch (error) {
    await undo(session, error)
    throw error
  }
}

interface ClaimThreadInput {
  stores: HoldfastStores
  clock: Clock
  runId: string
  threadId: string
  whenBusy: WhenBusy
  driver: RunDriver | undefined
}

async function claimThread(input: ClaimThreadInput): Promise<DriverClaim> {
  const { runId, threadId, stores, clock, driver } = input
  const wait = new BusyWait(input)
  let isOrphanSeen = false
  for (;;) {
    try {
      return await stores.drivers.claim({ runId, threadId, owner: newRunOwner(), ttlMs: DRIVER_LEASE_MS })
    } catch (error) {
      if (!isHoldfastError(error, 'THREAD_BUSY')) throw error
      const activeRunId = String(error.details['activeRunId'])
      if (error.details['orphaned'] === true && !isOrphanSeen) {
        isOrphanSeen = true
        await adoptRun({ stores, runId: activeRunId, driver, clock })
        continue
      }
      const waitMs = await wait.next(activeRunId)
      if (waitMs === undefined) throw error
      await sleep(clock, waitMs)
    }
  }
}

/** How long a claim waits for the run that holds its thread: one that is about to end, or one that it has cancelled. */
class BusyWait {
  readonly #input: ClaimThreadInput
  readonly #waits = [...FINISHING_WAITS_MS]
  readonly #cancelled = new Set<string>()
  #cancelWaitedMs = 0

  constructor(input: ClaimThreadInput) {
    this.#input = input
  }

  /** Undefined when it is time to give up. */
  async next(activeRunId: string): Promise<number | undefined> {
    const { stores, clock, whenBusy } = this.#input
    if (whenBusy !== 'cancel-previous') {
      const waitMs = this.#waits.shift()
      return waitMs !== undefined && (await isFinishing(stores, activeRunId)) ? waitMs : undefined
    }
    if (!this.#cancelled.has(activeRunId)) {
      this.#cancelled.add(activeRunId)
      await cancelRun({ stores, runId: activeRunId, keepSandbox: true, clock })
    }
    if (this.#cancelWaitedMs >= CANCEL_WAIT_MS) return undefined
    this.#cancelWaitedMs += CANCEL_POLL_MS
    return CANCEL_POLL_MS
  }
}

async function isFinishing(stores: HoldfastStores, runId: string): Promise<boolean> {
  if (findSession(stores, runId)?.outcome !== undefined) return true
  const info = await stores.eventLog.find(runId)
  return info?.isClosed === true
}

async function storeTurn(
  session: RunSession,
  chat: ChatRequest,
  fromChat: boolean,
): Promise<{ messages: ModelMessage[]; storedCount: number }> {
  const { stores, threadId, runId, clock } = session
  const { resume = [] } = chat
  const isResume = resume.length > 0 || (fromChat && chat.messages.at(-1)?.role !== 'user')
  const now = clock.now()
  const [stored, givenUp] = await Promise.all([
    stores.messages.loadThread(threadId),
    isResume ? [] : stores.interrupts.listPending(threadId),
  ])
  const merged = mergeTurn({ stored, incoming: chat.messages, isResume, now })
  const closed = isResume ? merged : closeWaitingToolCalls(merged, now)
  const messages = isResume ? closed : markTurn(closed, runId)
  await stores.messages.saveThread(threadId, messages, session.fence)
  await saveRunProps(stores, runId, chat.forwardedProps)
  if (isResume) await answerPauses({ stores, threadId, runId, now }, resume)
  else await giveUpPauses({ stores, threadId, runId, now }, givenUp)
  return { messages, storedCount: stored.length }
}

/**
 * The claim made a record, and a record must not stay `running` without a driver. In this order: where the log could not
 * be ended, the record is left to whoever settles it after the lease, or its viewers would wait for ever.
 */
async function undo(session: RunSession, error: unknown): Promise<void> {
  closeSession(session)
  if (session.fence === undefined) return
  const log = session.stores.eventLog.open(session.fence)
  const failure = toRunError(error)
  const fence = session.fence
  const ended = log
    .append([runErrorChunk({ ...failure, timestamp: session.clock.now() })])
    .then(() => log.close())
    .then(() => session.stores.drivers.finish({ ...fence, status: 'failed', error: failure }))
  await Promise.allSettled([ended])
}
