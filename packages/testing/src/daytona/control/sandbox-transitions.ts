import type { Clock } from '@holdfast/core'
import type { DaytonaKnobs, TransitionalState } from '../daytona-knobs.ts'
import type { SandboxJob, SandboxRecord, SandboxStateName } from './sandbox-record.ts'

export interface StateChange {
  readonly record: SandboxRecord
  readonly oldState: SandboxStateName
  readonly newState: SandboxStateName
}

/** A transition that is to fail. */
export interface PlannedFailure {
  reason: string
  recoverable?: boolean
}

export interface TransitionStep {
  through: TransitionalState
  /** Done while the state is shown, before its time is over. */
  begin?: () => Promise<void>
  /** Done when its time is over. */
  end?: () => Promise<void>
}

/**
 * Moves sandboxes through transitional states. The first one is visible before `run` returns, so that the answer to the
 * request that caused it shows it. Only one transition of a sandbox goes on at a time.
 */
export class SandboxTransitions {
  readonly #knobs: DaytonaKnobs
  readonly #clock: Clock
  readonly #onChange: (change: StateChange) => void
  readonly #failures = new Map<TransitionalState, PlannedFailure[]>()
  readonly #stopAll = new AbortController()

  constructor(knobs: DaytonaKnobs, clock: Clock, onChange: (change: StateChange) => void) {
    this.#knobs = knobs
    this.#clock = clock
    this.#onChange = onChange
  }

  failNext(state: TransitionalState, failure: PlannedFailure): void {
    this.#failures.set(state, [...(this.#failures.get(state) ?? []), failure])
  }

  takeFailure(state: TransitionalState): PlannedFailure | undefined {
    return this.#failures.get(state)?.shift()
  }

  set(record: SandboxRecord, state: SandboxStateName): void {
    const oldState = record.state
    if (oldState === state) return
    record.state = state
    // Any change of state counts as activity, which also restarts the archive and delete clocks [A190].
    record.updatedAt = record.lastActivityAt = this.#clock.now()
    this.#onChange({ record, oldState, newState: state })
  }

  /** Goes through the steps and ends in the state that `target` names then. */
  run(record: SandboxRecord, steps: readonly TransitionStep[], target: () => SandboxStateName): SandboxJob {
    const cancel = new AbortController()
    const first = steps[0]
    if (first) this.set(record, first.through)
    const job: SandboxJob = {
      state: first?.through ?? record.state,
      cancel,
      done: this.#go(record, steps, target, cancel.signal).finally(() => {
        if (record.job === job) record.job = null
      }),
    }
    record.job = job
    return job
  }

  /** No transition moves on any more. */
  close(): void {
    this.#stopAll.abort()
  }

  async #go(
    record: SandboxRecord,
    steps: readonly TransitionStep[],
    target: () => SandboxStateName,
    signal: AbortSignal,
  ): Promise<void> {
    for (const step of steps) {
      this.set(record, step.through)
      const ended = await this.#step(record, step, signal)
      if (!ended) return
    }
    this.set(record, target())
  }

  async #step(record: SandboxRecord, step: TransitionStep, signal: AbortSignal): Promise<boolean> {
    const over = AbortSignal.any([signal, this.#stopAll.signal])
    try {
      await step.begin?.()
      await realDelay(this.#knobs.transitionMs[step.through], over)
      const failure = over.aborted ? undefined : this.#failureOf(step.through)
      if (failure) throw new PlannedFailureError(failure)
      if (!over.aborted) await step.end?.()
    } catch (error) {
      if (!(error instanceof Error)) throw error
      if (!over.aborted) this.fail(record, error)
      return false
    }
    return !over.aborted
  }

  /** A failed snapshot leaves no trace in the sandbox [A190], so its owner asks for the failure itself. */
  #failureOf(state: TransitionalState): PlannedFailure | undefined {
    return state === 'snapshotting' ? undefined : this.takeFailure(state)
  }

  fail(record: SandboxRecord, error: Error): void {
    record.errorReason = error.message
    record.recoverable = error instanceof PlannedFailureError && error.recoverable
    this.set(record, record.state === 'building_snapshot' ? 'build_failed' : 'error')
  }
}

class PlannedFailureError extends Error {
  readonly recoverable: boolean

  constructor(failure: PlannedFailure) {
    super(failure.reason)
    this.name = 'PlannedFailureError'
    this.recoverable = failure.recoverable ?? false
  }
}

/** Work takes real time, whatever the server's clock is: the clock measures deadlines. `Infinity` waits for the signal. */
export function realDelay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const timer = Number.isFinite(ms) ? setTimeout(finish, ms) : undefined
    timer?.unref()
    signal.addEventListener('abort', finish, { once: true })
    function finish(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', finish)
      resolve()
    }
  })
}
