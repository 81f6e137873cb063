import type { RunError } from '@holdfast/core'

/** What became of the journals in one sandbox whose runs have ended. */
export interface JournalOutcome {
  threadId: string
  sandboxId: string
  /** `gone`: the sandbox is, and its journals with it. `failed`: it is tried again later. */
  outcome: 'pruned' | 'gone' | 'failed'
  /** Runs whose journals were removed. */
  removed: string[]
  error?: RunError
}
