import type { RunRecord } from '@tanstack/ai'
import { isTerminalRunStatus } from '@tanstack/ai'
import { RunConflictError, ThreadBusyError } from '../errors/error-classes.ts'
import type { DriverClaimInput } from '../runs/driver-store.ts'
import type { MemoryState } from './memory-state.ts'

/** Throws why a run cannot be claimed, in the order that `DriverStore.claim` promises. */
export function assertClaimable(
  state: MemoryState,
  record: RunRecord | undefined,
  input: DriverClaimInput,
  now: number,
): void {
  if (record !== undefined) assertOwnRun(record, input)
  assertLeaseFree(state, input, now)
  const holder = state.findHolder(input.threadId)
  if (holder === undefined || holder.runId === input.runId) return
  const orphaned = (state.runs.findDriver(holder.runId)?.expiresAt ?? 0) <= now
  throw new ThreadBusyError({ threadId: input.threadId, activeRunId: holder.runId, orphaned })
}

function assertOwnRun(record: RunRecord, input: DriverClaimInput): void {
  const { runId, threadId, purpose = 'drive' } = input
  const details = { runId }
  if (record.threadId !== threadId) {
    const message = `Run ${runId} already belongs to another thread. Use a fresh run id.`
    throw new RunConflictError('RUN_CONFLICT', message, { details })
  }
  if (isTerminalRunStatus(record.status)) {
    const message = `Run ${runId} has already ended (${record.status}). Start a new run.`
    throw new RunConflictError('RUN_TERMINAL', message, { details: { ...details, status: record.status } })
  }
  if (record.cancelRequested === true && purpose === 'drive') {
    const message = `Somebody asked for run ${runId} to be cancelled. Start a new run.`
    throw new RunConflictError('RUN_CANCELLED', message, { details })
  }
}

function assertLeaseFree(state: MemoryState, input: DriverClaimInput, now: number): void {
  const driver = state.runs.findDriver(input.runId)
  if (driver === undefined || driver.owner === input.owner || driver.expiresAt <= now) return
  const message = `Another host drives run ${input.runId} and its lease is live. Read the event log, or try again later.`
  const details = { runId: input.runId, expiresAt: driver.expiresAt }
  throw new RunConflictError('DRIVER_HELD', message, { details, retryable: true })
}
