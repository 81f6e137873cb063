import { randomUUID } from 'node:crypto'
import { isHoldfastError } from '@holdfast/core'
import type { Clock, DriverClaim, HoldfastStores, WriteFence } from '@holdfast/core'
import { DRIVER_LEASE_MS } from '../../runs/heartbeat.ts'
import { closeSession, openSession } from '../../runs/open-session.ts'
import { toRunError } from '../../runs/run-error.ts'
import { newRunOwner } from '../../runs/run-owner.ts'
import { settleOrphan } from '../../runs/settle-orphan.ts'
import type { Tenant } from '../../runs/tenant.ts'
import { redactedError } from '../../secrets/redacted-error.ts'
import { warnOf } from '../../secrets/warn-of.ts'
import type { SecretRedactor } from '../../secrets/secret-redactor.ts'
import { followHead } from './follow-head.ts'
import { HOLD_PREFIX } from './thread-hold-id.ts'

export interface HoldThreadInput {
  stores: HoldfastStores
  threadId: string
  tenant: Tenant
  clock: Clock
  /** Takes secrets out of what the work fails with: the failure is recorded. */
  redactor: SecretRedactor
  /** What the thread is held for; part of the run's id. */
  purpose: 'save' | 'rewind' | 'fork'
}

export interface ThreadHold {
  readonly fence: WriteFence
  /** Aborts when somebody cancels the work, and when the hold may be lost. */
  readonly signal: AbortSignal
}

/**
 * Does work that no run may overlap with. The thread is held as a run holds it, by a claim: a message that is sent meanwhile
 * is refused as busy, and work whose host dies is settled like an orphaned run. `THREAD_BUSY` while a run is active.
 */
export async function holdThread<T>(input: HoldThreadInput, work: (hold: ThreadHold) => Promise<T>): Promise<T> {
  const { stores, threadId, tenant, clock, purpose } = input
  const runId = `${HOLD_PREFIX}${purpose}:${randomUUID()}`
  const claimedAt = clock.monotonic()
  const claim = await claimThread(input, runId)
  const session = openSession({ stores, clock, tenant, runId, threadId, claim, claimedAt })
  session.redactor = input.redactor
  const fence = { runId, epoch: claim.epoch }
  try {
    const result = await work({ fence, signal: session.controller.signal })
    await end(input, fence, { status: 'completed' })
    return result
  } catch (failure) {
    const error = redactedError(input.redactor, failure)
    // The first failure counts; what cannot be ended here is settled when its lease has passed.
    await end(input, fence, { status: 'failed', error: toRunError(error) }).catch((ending: unknown) =>
      warnOf(ending, input.redactor),
    )
    throw error
  } finally {
    closeSession(session)
  }
}

async function claimThread({ stores, threadId, clock }: HoldThreadInput, runId: string): Promise<DriverClaim> {
  const claim = (): Promise<DriverClaim> =>
    stores.drivers.claim({ runId, threadId, owner: newRunOwner(), ttlMs: DRIVER_LEASE_MS })
  try {
    return await claim()
  } catch (error) {
    if (!isHoldfastError(error, 'THREAD_BUSY') || error.details['orphaned'] !== true) throw error
    await settleOrphan({ stores, runId: String(error.details['activeRunId']), clock })
    return claim()
  }
}

/** Work that failed may have become the head nevertheless, when the answer was lost. */
async function end(
  { stores, threadId, purpose }: HoldThreadInput,
  fence: WriteFence,
  result: { status: 'completed' } | { status: 'failed'; error: ReturnType<typeof toRunError> },
): Promise<void> {
  // A save makes the head of what the thread says already.
  if (purpose !== 'save') await followHead(stores, threadId, fence)
  await stores.eventLog.open(fence).close()
  await stores.drivers.finish({ ...fence, ...result })
}
