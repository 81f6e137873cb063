import { RUN_CANCEL_REASON } from '@tanstack/ai'
import type { StopReason } from './run-outcome.ts'

/** Abort reasons of a run's signal. Only the first is a person's cancel; the prefix keeps them apart from an app's own. */
export const ABORT_REASONS: Readonly<Record<StopReason, string>> = {
  cancel: RUN_CANCEL_REASON,
  disconnect: 'holdfast:viewer-left',
  'host-stop': 'holdfast:host-stopping',
  lost: 'holdfast:driver-lost',
}

/** Whether an abort for this reason ends this host's part in the run and not the run. */
export function leavesRunRunning(reason: unknown): boolean {
  return reason === ABORT_REASONS['host-stop'] || reason === ABORT_REASONS.lost
}
