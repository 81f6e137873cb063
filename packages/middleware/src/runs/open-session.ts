import { RunConflictError } from '@holdfast/core'
import type { Clock, DriverClaim, HoldfastStores } from '@holdfast/core'
import { count } from '../telemetry/count.ts'
import { RunTrace } from '../telemetry/run-trace.ts'
import { heartbeatOf } from './heartbeat.ts'
import { RunSession } from './run-session.ts'
import { registerSession, unregisterSession } from './session-registry.ts'
import type { Tenant } from './tenant.ts'
import { watchCancel } from './watch-cancel.ts'

export interface OpenSessionInput {
  stores: HoldfastStores
  clock: Clock
  tenant: Tenant
  runId: string
  threadId: string
  claim: DriverClaim
  /** Monotonic time just before the claim was sent. */
  claimedAt: number
  /** See `RunSession`. */
  isOfChat?: boolean
}

/** Takes charge of a claimed run in this process: from here on its lease is renewed and a cancel reaches it. */
export function openSession({ claim, claimedAt, ...input }: OpenSessionInput): RunSession {
  const session = new RunSession({ ...input, epoch: claim.epoch })
  if (!registerSession(session)) throw drivenHere(input.runId)
  session.trace = RunTrace.start({ 'holdfast.run_id': input.runId, 'holdfast.epoch': claim.epoch })
  heartbeatOf(input.clock).add(session, claimedAt)
  watchCancel(session)
  return session
}

/** Lets go of a run without a word to anybody else. */
export function closeSession(session: RunSession): void {
  heartbeatOf(session.clock).remove(session)
  unregisterSession(session)
  report(session)
  session.markEnded()
}

function report({ outcome, trace }: RunSession): void {
  const status = outcome?.status ?? 'released'
  if (status === 'lost') count('holdfast.drivers.lost')
  else if (status !== 'detached' && status !== 'released') count('holdfast.runs', { 'holdfast.status': status })
  trace?.end(status)
}

export function drivenHere(runId: string): RunConflictError {
  return new RunConflictError('DRIVER_HELD', `Run ${runId} is already driven by this process; attach to it.`, {
    details: { runId },
  })
}
