import { isTerminalRunStatus } from '@tanstack/ai'
import { InvalidInputError } from '../errors/error-classes.ts'
import { assertId, assertMs } from '../identifier.ts'
import { MAX_PAGE_SIZE } from '../page.ts'
import type { DriverClaimInput, DriverFinishInput, WriteFence } from './driver-store.ts'
import { assertRunPatch, assertRunStatus } from './run-patch.ts'
import type { RunPatch } from './run-patch.ts'

/** Throws `INVALID_ID` or `INVALID_ARGUMENT` when a fence is malformed. */
export function assertFence(fence: WriteFence): void {
  assertId('runId', fence.runId)
  assertEpoch(fence.epoch)
}

/** Throws `INVALID_ARGUMENT` unless `epoch` is one that a claim can have given. */
export function assertEpoch(epoch: number): void {
  if (Number.isSafeInteger(epoch) && epoch >= 1) return
  throw new InvalidInputError('INVALID_ARGUMENT', 'epoch must be an integer, 1 or more.')
}

/** Throws `INVALID_ID` or `INVALID_ARGUMENT` when the input of a claim is malformed. */
export function assertClaimInput(input: DriverClaimInput): void {
  assertId('runId', input.runId)
  assertId('threadId', input.threadId)
  assertId('owner', input.owner)
  assertMs('ttlMs', input.ttlMs)
  if (input.sandboxKey !== undefined) assertId('sandboxKey', input.sandboxKey)
  if (![undefined, 'drive', 'finalize'].includes(input.purpose)) {
    throw new InvalidInputError('INVALID_ARGUMENT', 'purpose must be "drive" or "finalize".')
  }
}

/** The given ids without repetitions. `INVALID_ID` for a malformed one, `INVALID_ARGUMENT` for more than a page of them. */
export function assertRunIds(runIds: readonly string[]): string[] {
  if (!Array.isArray(runIds) || runIds.length > MAX_PAGE_SIZE) {
    throw new InvalidInputError('INVALID_ARGUMENT', `runIds must be a list of at most ${MAX_PAGE_SIZE} ids.`)
  }
  return [...new Set(runIds.map((runId) => assertId('runId', runId)))]
}

/** What `finish` writes to the record, checked. `now` is the store's time. */
export function finishPatch(input: DriverFinishInput, now: number): RunPatch {
  const { status, error, usage } = input
  assertRunStatus(status)
  if (status !== 'interrupted' && !isTerminalRunStatus(status)) {
    throw new InvalidInputError(
      'INVALID_ARGUMENT',
      'A run can be finished with a terminal status or "interrupted" only.',
    )
  }
  const patch: RunPatch = {
    status,
    ...(status === 'interrupted' ? {} : { finishedAt: now }),
    ...(error === undefined ? {} : { error }),
    ...(usage === undefined ? {} : { usage }),
  }
  assertRunPatch(patch)
  return patch
}
