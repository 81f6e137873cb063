import { assertMs } from '@holdfast/core'
import type { Clock } from '@holdfast/core'

interface FakeTimer {
  readonly dueAt: number
  readonly fn: () => void
}

/** Taken at load, so that a test runner's fake timers do not stop this clock. */
const nextTurn = setImmediate

/** Turns of the event loop between timers: enough for promise chains and for in-process I/O that they start. */
const TURNS_BETWEEN_TIMERS = 3

/** Time that stands still until a test moves it. Timers fire in the order they are due, then in the order they were set. */
export class FakeClock implements Clock {
  #wallOffset: number
  #elapsed = 0
  readonly #timers = new Set<FakeTimer>()

  /** `startAt` is the first answer of `now()`, epoch milliseconds. */
  constructor(startAt: number = Date.UTC(2025, 0, 1)) {
    this.#wallOffset = assertMs('startAt', startAt)
  }

  now(): number {
    return this.#wallOffset + this.#elapsed
  }

  monotonic(): number {
    return this.#elapsed
  }

  schedule(ms: number, fn: () => void): () => void {
    const timer: FakeTimer = { dueAt: this.#elapsed + assertMs('ms', ms), fn }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** How many timers wait. */
  get pending(): number {
    return this.#timers.size
  }

  /** When the next timer is due, in milliseconds from now; undefined without one. */
  get nextDueIn(): number | undefined {
    const next = this.#nextTimer(Number.POSITIVE_INFINITY)
    return next === undefined ? undefined : next.dueAt - this.#elapsed
  }

  /** Moves time forward. Promise reactions run before the first timer, between two timers, and after the last. */
  async advance(ms: number): Promise<void> {
    const target = this.#elapsed + assertMs('ms', ms)
    await settleReactions()
    for (let timer = this.#nextTimer(target); timer !== undefined; timer = this.#nextTimer(target)) {
      this.#timers.delete(timer)
      this.#elapsed = timer.dueAt
      timer.fn()
      await settleReactions()
    }
    this.#elapsed = target
  }

  /** Moves the wall clock alone, as an administrator or a time service does. Fires nothing. */
  jumpWallClock(byMs: number): void {
    this.#wallOffset += byMs
  }

  #nextTimer(notAfter: number): FakeTimer | undefined {
    let next: FakeTimer | undefined
    for (const timer of this.#timers) {
      if (timer.dueAt <= notAfter && (next === undefined || timer.dueAt < next.dueAt)) next = timer
    }
    return next
  }
}

async function settleReactions(): Promise<void> {
  for (let turn = 0; turn < TURNS_BETWEEN_TIMERS; turn += 1) {
    await new Promise<void>((resolve) => nextTurn(resolve))
  }
}
