import type { Clock } from '../../src/index.ts'

interface Timer {
  at: number
  fn: () => void
}

/** A clock that moves only when it is told to. */
export class ManualClock implements Clock {
  #now: number
  readonly #timers = new Set<Timer>()

  constructor(now = 1_000_000) {
    this.#now = now
  }

  get pendingTimers(): number {
    return this.#timers.size
  }

  now(): number {
    return this.#now
  }

  monotonic(): number {
    return this.#now
  }

  schedule(ms: number, fn: () => void): () => void {
    const timer = { at: this.#now + ms, fn }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  advance(ms: number): void {
    this.#now += ms
    for (const timer of [...this.#timers].sort((a, b) => a.at - b.at)) {
      if (timer.at > this.#now) continue
      this.#timers.delete(timer)
      timer.fn()
    }
  }
}
