import { LeaseLostError } from '@holdfast/core'
import type { Clock } from '@holdfast/core'

export interface LeaseKeeperOptions {
  key: string
  clock: Clock
  ttlMs: number
  /** By the monotonic clock, when the request that gave the lease was sent: the lease is at least that old. */
  askedAt: number
  /** False when the lease is another's. Rejects when the store did not answer. */
  renew: () => Promise<boolean>
}

/** Two renewals in a row may fail before the lease lapses. */
const RENEWALS_PER_TTL = 3
const RETRIES_PER_TTL = 10
/** How much earlier than the lease ends the holder must stop, for clocks that do not run alike. */
const SAFETY_PER_TTL = 10

/** Renews a lease while its holder works. `signal` aborts with `LEASE_LOST` before another holder could exist. */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions
  readonly #lost = new AbortController()
  #cancelRenewal: () => void = () => {}
  #cancelDeadline: () => void = () => {}
  #isStopped = false

  constructor(options: LeaseKeeperOptions) {
    this.#options = options
    this.#extend(options.askedAt)
  }

  get signal(): AbortSignal {
    return this.#lost.signal
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelRenewal()
    this.#cancelDeadline()
  }

  #extend(askedAt: number): void {
    const { clock, ttlMs } = this.#options
    this.#cancelDeadline()
    const leftMs = askedAt + ttlMs - ttlMs / SAFETY_PER_TTL - clock.monotonic()
    if (leftMs <= 0) return this.#lose()
    this.#cancelDeadline = clock.schedule(leftMs, () => this.#lose())
    this.#scheduleRenewal(ttlMs / RENEWALS_PER_TTL)
  }

  #scheduleRenewal(afterMs: number): void {
    this.#cancelRenewal()
    this.#cancelRenewal = this.#options.clock.schedule(afterMs, () => void this.#renew())
  }

  async #renew(): Promise<void> {
    const { clock, renew, ttlMs } = this.#options
    const askedAt = clock.monotonic()
    const [answer] = await Promise.allSettled([renew()])
    if (this.#isStopped) return
    if (answer.status === 'rejected') this.#scheduleRenewal(ttlMs / RETRIES_PER_TTL)
    else if (answer.value) this.#extend(askedAt)
    else this.#lose()
  }

  #lose(): void {
    this.stop()
    const message = `The lock ${this.#options.key} may belong to another holder by now; stop and take it again.`
    this.#lost.abort(new LeaseLostError('LEASE_LOST', message, { details: { key: this.#options.key } }))
  }
}
