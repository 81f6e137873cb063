import type { RunError, RunRecord } from '@holdfast/core'

/** Why a host stops producing a run. Only `cancel` and `disconnect` end the run itself. */
export type StopReason = 'cancel' | 'disconnect' | 'host-stop' | 'lost'

/** How one host's work on a run ended. */
export type RunOutcome =
  | { status: 'completed'; usage?: RunRecord['usage'] }
  | { status: 'failed'; error: RunError }
  | { status: 'aborted'; keepSandbox: boolean }
  /** It waits for a person. Not an end of the run. */
  | { status: 'interrupted' }
  /** This host lets go; the run goes on elsewhere. */
  | { status: 'detached' }
  /** Another host took over. Nothing more may be written. */
  | { status: 'lost' }

export function outcomeOfStop(reason: StopReason, keepSandbox: boolean): RunOutcome {
  if (reason === 'host-stop') return { status: 'detached' }
  if (reason === 'lost') return { status: 'lost' }
  return { status: 'aborted', keepSandbox: reason === 'cancel' && keepSandbox }
}
