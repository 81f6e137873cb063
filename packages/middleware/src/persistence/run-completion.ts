import { CancelledError, HoldfastError } from '@holdfast/core'
import type { RunOutcome } from '../runs/run-outcome.ts'
import type { RunCompletion } from './persistence-capabilities.ts'

/** Settles what waits for a run's transcript. The first word stands. */
export class SettledCompletion implements RunCompletion {
  readonly #promise: Promise<void>
  #resolve: () => void = () => undefined
  #reject: (error: unknown) => void = () => undefined

  constructor() {
    this.#promise = new Promise<void>((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // Often nobody waits.
    this.#promise.catch(() => undefined)
  }

  waitForRunCompletion = (): Promise<void> => this.#promise

  settle(outcome: RunOutcome): void {
    if (outcome.status === 'completed' || outcome.status === 'interrupted') this.#resolve()
    else if (outcome.status === 'failed') this.#reject(new HoldfastError('CANCELLED', outcome.error.message))
    else this.#reject(new CancelledError('CANCELLED', `The run was ${outcome.status}.`))
  }

  fail(error: unknown): void {
    this.#reject(error)
  }
}
