import type { RunError } from '@holdfast/core'
import type { JournalOutcome } from './journal-outcome.ts'
import type { ReclaimOutcome } from './reclaim-outcome.ts'

/** What became of one run. */
export interface ReapOutcome {
  runId: string
  threadId: string
  /**
   * `taken-over`: this host continues it. `settled`: finished from what its log says. `expired`: asked to end, because
   * nobody came back or it took too long. `driven`: a live host has it. `ended`: it was over already.
   */
  outcome: 'taken-over' | 'settled' | 'expired' | 'driven' | 'ended' | 'failed'
  error?: RunError
}

/** What one reap did. */
export interface ReapReport {
  runs: ReapOutcome[]
  /** Sandboxes that should not exist any more. */
  sandboxes: ReclaimOutcome[]
  /** Journals of command-line agents whose runs have ended. */
  journals: JournalOutcome[]
  /** What kept a part of the reap from being done. The next one does it. */
  errors: RunError[]
}
