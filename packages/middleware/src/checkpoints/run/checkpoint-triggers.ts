import { InvalidInputError } from '@holdfast/core'
import type { RunStatus } from '@holdfast/core'

/**
 * When a run's workspace is saved: when it ended well, when it failed, when it pauses for a person, before its sandbox is
 * destroyed, and every so often.
 */
export type CheckpointTrigger = 'finish' | 'error' | 'interrupt' | 'before-destroy' | { readonly everyMs: number }

const WORDS: readonly unknown[] = ['finish', 'error', 'interrupt', 'before-destroy']
const MIN_EVERY_MS = 1_000

export class CheckpointTriggers {
  readonly everyMs: number | undefined
  readonly #words: ReadonlySet<unknown>

  /** `INVALID_CONFIGURATION` for an unknown word or a time below one second. */
  constructor(triggers: readonly CheckpointTrigger[] = ['finish']) {
    for (const trigger of triggers) assertTrigger(trigger)
    this.#words = new Set(triggers)
    this.everyMs = triggers.find((trigger) => typeof trigger === 'object')?.everyMs
  }

  has(word: Exclude<CheckpointTrigger, object>): boolean {
    return this.#words.has(word)
  }

  /** Ends of a run that are saved whatever becomes of its sandbox. */
  ends(): RunStatus[] {
    return [...(this.has('finish') ? ['completed' as const] : []), ...(this.has('error') ? ['failed' as const] : [])]
  }
}

function assertTrigger(trigger: CheckpointTrigger): void {
  if (WORDS.includes(trigger)) return
  if (typeof trigger === 'object' && Number.isFinite(trigger.everyMs) && trigger.everyMs >= MIN_EVERY_MS) return
  const message = `A checkpoint trigger is finish, error, interrupt, before-destroy or { everyMs } of ${MIN_EVERY_MS} or more.`
  throw new InvalidInputError('INVALID_CONFIGURATION', message)
}
