import type { Clock } from '@holdfast/core'

/** After a notice, so that a burst of them is one look. */
const SOON_MS = 200
/** Between two looks, however many notices there are. */
const MIN_PAUSE_MS = 1_000
/** Looks without a notice become rarer while nothing happens. */
const MAX_PAUSE_MS = 10_000
const PAUSE_GROWTH = 1.5
/** A look may take at most a tenth of the time. */
const PAUSE_PER_LOOK = 9

/** When to look at the files: soon after a notice, else now and then; never more often than once a second. */
export class LookSchedule {
  readonly #clock: Clock
  readonly #look: () => Promise<void>
  #isPolling = false
  #isStopped = false
  #isWanted = false
  #pauseMs = MIN_PAUSE_MS
  #notBefore = 0
  #cancelTimer: () => void = () => undefined
  #running: Promise<void> | undefined

  constructor(clock: Clock, look: () => Promise<void>) {
    this.#clock = clock
    this.#look = look
  }

  /** Looks again and again until `stop`. */
  poll(): void {
    this.#isPolling = true
    this.#arm(this.#pauseMs)
  }

  /** There is something to see. */
  soon(): void {
    // A burst must not push the look further and further away.
    if (this.#isWanted) return
    this.#isWanted = true
    this.#pauseMs = MIN_PAUSE_MS
    this.#arm(Math.max(SOON_MS, this.#notBefore - this.#clock.monotonic()))
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelTimer()
  }

  /** Resolves when no look is under way. */
  async idle(): Promise<void> {
    await this.#running
  }

  #arm(ms: number): void {
    if (this.#isStopped || this.#running !== undefined) return
    this.#cancelTimer()
    this.#cancelTimer = this.#clock.schedule(ms, () => {
      this.#running = this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#isWanted = false
    const startedAt = this.#clock.monotonic()
    await this.#look()
    const tookMs = this.#clock.monotonic() - startedAt
    this.#notBefore = this.#clock.monotonic() + Math.max(MIN_PAUSE_MS, tookMs * PAUSE_PER_LOOK)
    this.#running = undefined
    if (this.#isWanted) {
      this.#isWanted = false
      this.soon()
    } else if (this.#isPolling) {
      this.#pauseMs = Math.min(MAX_PAUSE_MS, this.#pauseMs * PAUSE_GROWTH)
      this.#arm(Math.max(this.#pauseMs, this.#notBefore - this.#clock.monotonic()))
    }
  }
}
