import { isHoldfastError, NotFoundError, sleep, systemClock } from '@holdfast/core'
import type { Clock, DriverClaim, HoldfastStores } from '@holdfast/core'
import type { ModelMessage } from '@tanstack/ai'
import { DRIVER_LEASE_MS } from './heartbeat.ts'
import { mergeTurn } from './merge-turn.ts'
import { closeSession, drivenHere, openSession } from './open-session.ts'
import { readChatRequest } from './request-body.ts'
import type { ChatRequest } from './request-body.ts'
import { Run } from './run.ts'
import { toRunError } from './run-error.ts'
import { saveRunProps } from './run-props.ts'
import { newRunOwner } from './run-owner.ts'
import type { RunSession } from './run-session.ts'
import { findSession } from './session-registry.ts'
import { settleOrphan } from './settle-orphan.ts'
import { ownerIdOf } from './tenant.ts'
import type { Tenant } from './tenant.ts'
import { titleOf } from './thread-title.ts'

export interface BeginRunInput {
  stores: HoldfastStores
  /** TanStack's client request. Left out when `chat` gives what it says. */
  request?: Request
  chat?: ChatRequest
  /** On whose behalf, as the app's own authorization found out. A single user when left out. */
  tenant?: Tenant
  /** False: a viewer who leaves ends the run. Default true. */
  detachOnDisconnect?: boolean
  clock?: Clock
}

/** A run whose log has ended is about to free its thread; a send that comes in between waits this long. */
const FINISHING_WAITS_MS = [25, 50, 100, 200, 400, 800, 1_600]

/**
 * Claims the run and its thread, stores the person's turn, and starts the heartbeat: from here on the run survives its
 * viewer. Call it before `chat()`.
 *
 * Rejects with `THREAD_BUSY` while another run holds the thread, `RUN_CONFLICT` when the run id is another thread's,
 * `RUN_TERMINAL`, `RUN_CANCELLED` or `DRIVER_HELD` when the run exists already (attach to it instead),
 * `THREAD_NOT_FOUND` for a foreign thread, and the codes of `readChatRequest`. A refused call leaves nothing behind.
 */
export async function beginRun(input: BeginRunInput): Promise<Run> {
  const { stores, clock = systemClock, tenant = {} } = input
  const chat = input.chat ?? (await readChatRequest(requestOf(input)))
  const ownerId = ownerIdOf(tenant)
  const thread = await stores.threads.find(chat.threadId)
  if (thread !== null && thread.ownerId !== ownerId) throw threadNotFound(chat.threadId)
  if (findSession(stores, chat.runId) !== undefined) throw drivenHere(chat.runId)

  const claimedAt = clock.monotonic()
  const claim = await claimThread({ stores, clock, runId: chat.runId, threadId: chat.threadId })
  const { runId, threadId } = chat
  const session = openSession({ stores, clock, tenant, runId, threadId, claim, claimedAt })
  try {
    if (thread === null) {
      await stores.threads.ensure({ threadId: chat.threadId, ownerId, title: titleOf(chat.messages) })
    }
    const { messages, storedCount } = await storeTurn(session, chat)
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
}

async function claimThread({ runId, threadId, stores, clock }: ClaimThreadInput): Promise<DriverClaim> {
  const waits = [...FINISHING_WAITS_MS]
  let settled = false
  for (;;) {
    try {
      return await stores.drivers.claim({ runId, threadId, owner: newRunOwner(), ttlMs: DRIVER_LEASE_MS })
    } catch (error) {
      if (!isHoldfastError(error, 'THREAD_BUSY')) throw error
      const activeRunId = String(error.details['activeRunId'])
      if (error.details['orphaned'] === true && !settled) {
        settled = true
        await settleOrphan({ stores, runId: activeRunId, clock })
        continue
      }
      const waitMs = waits.shift()
      if (waitMs === undefined || !(await isFinishing(stores, activeRunId))) throw error
      await sleep(clock, waitMs)
    }
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
): Promise<{ messages: ModelMessage[]; storedCount: number }> {
  const { stores, threadId, clock } = session
  const stored = await stores.messages.loadThread(threadId)
  const isResume = (chat.resume?.length ?? 0) > 0
  const messages = mergeTurn({ stored, incoming: chat.messages, isResume, now: clock.now() })
  await stores.messages.saveThread(threadId, messages, session.fence)
  await saveRunProps(stores, session.runId, chat.forwardedProps)
  return { messages, storedCount: stored.length }
}

/** The claim made a record, and a record must not stay `running` without a driver. */
async function undo(session: RunSession, error: unknown): Promise<void> {
  closeSession(session)
  if (session.fence === undefined) return
  const log = session.stores.eventLog.open(session.fence)
  await Promise.allSettled([
    log.close(),
    session.stores.drivers.finish({ ...session.fence, status: 'failed', error: toRunError(error) }),
  ])
}

function requestOf(input: BeginRunInput): Request {
  if (input.request === undefined) throw new TypeError('beginRun needs `request` or `chat`.')
  return input.request
}

function threadNotFound(threadId: string): NotFoundError {
  return new NotFoundError('THREAD_NOT_FOUND', `No thread ${threadId}.`, { details: { threadId } })
}
