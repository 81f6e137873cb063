import type { RunError } from '@holdfast/core'

/**
 * Why a sandbox or row was looked at: `no-record`: nothing points at the sandbox. `replaced`: its key has another sandbox.
 * `run-ended`: its definition keeps none for longer than a run. `missing`: the service does not list the row's sandbox.
 */
export type SweepReason = 'no-record' | 'replaced' | 'run-ended' | 'missing'

/** What became of one sandbox, or of one row without a sandbox. */
export interface SweepOutcome {
  sandboxId: string
  key?: string
  reason: SweepReason
  /** `destroyed`: the sandbox. `forgotten`: the row of one that is gone. `kept`: `because` says why. */
  outcome: 'destroyed' | 'forgotten' | 'kept' | 'failed'
  because?: 'dry-run' | 'too-young' | 'seen-first' | 'in-use' | 'store-empty' | 'no-key'
  error?: RunError
}

/** What a sweep found and did. */
export interface SweepReport {
  /** How many sandboxes the service listed, and how many of them a row points at. */
  listed: number
  recorded: number
  /** Everything else, and rows without a sandbox. */
  outcomes: SweepOutcome[]
  /** What kept a part of the sweep from being done. */
  errors: RunError[]
}
