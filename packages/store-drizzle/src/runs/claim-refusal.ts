import { isTerminalRunStatus, RunConflictError, ThreadBusyError } from '@holdfast/core'
import type { DriverClaimInput, RunStatus } from '@holdfast/core'
import type { Database } from '../database/database.ts'
import { text } from '../database/row.ts'
import { findThreadHolder, inspectClaim } from '../statements/inspect-claim.ts'

/** Why a claim was refused, in the contract's order; undefined when the reason has gone meanwhile. */
export async function claimRefusal(db: Database, input: DriverClaimInput): Promise<Error | undefined> {
  const { runId, threadId, owner, purpose } = input
  const run = await db.row(inspectClaim, [runId])
  if (run !== undefined) {
    const details = { runId, threadId }
    if (run['thread_id'] !== threadId) {
      return new RunConflictError('RUN_CONFLICT', `Run ${runId} belongs to another thread; use a fresh run id.`, {
        details,
      })
    }
    const status = text(run, 'status') as RunStatus
    if (isTerminalRunStatus(status)) {
      return new RunConflictError('RUN_TERMINAL', `Run ${runId} has already ended (${status}); start a new run.`, {
        details: { ...details, status },
      })
    }
    if (purpose !== 'finalize' && run['cancel_requested'] === true) {
      return new RunConflictError('RUN_CANCELLED', `Run ${runId} is to be cancelled; start a new run.`, { details })
    }
    if (run['driver_owner'] !== null && run['driver_owner'] !== owner && run['is_live'] === true) {
      const message = `Run ${runId} is driven by another host; read its log, or claim it when the lease has expired.`
      return new RunConflictError('DRIVER_HELD', message, { details, retryable: true })
    }
  }
  const holder = await db.row(findThreadHolder, [threadId])
  if (holder === undefined || holder['run_id'] === runId) return undefined
  return new ThreadBusyError({
    threadId,
    activeRunId: text(holder, 'run_id'),
    orphaned: holder['is_orphaned'] === true,
  })
}
