import type { RunError } from '@holdfast/core'

/** What became of one sandbox that should not exist any more. */
export interface ReclaimOutcome {
  key: string
  sandboxId: string
  threadId: string
  /** `kept`: somebody uses it, or it is not this definition's. `failed`: it is tried again later. */
  outcome: 'destroyed' | 'kept' | 'failed'
  error?: RunError
}
