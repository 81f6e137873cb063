import { isHoldfastError } from '@holdfast/core'
import type { Clock } from '@holdfast/core'
import type { RunSession } from './run-session.ts'

/** How long a driver may be silent before another host may take its run. */
export const DRIVER_LEASE_MS = 30_000

/** Two renewals in a row may fail before the lease expires. */
const RENEWALS_PER_LEASE = 3

interface Beat {
  session: RunSession
  /** Monotonic time until which the lease is surely ours. */
  safeUntil: number
  /** Renewals that the store has not answered. */
  unanswered: number
}

/**
 * Renews the leases of all runs of one clock with one timer. A run whose lease may have lapsed is stopped at once, also
 * when this process was suspended meanwhile: its successor may be at work.
 */
export class Heartbeat {
  readonly #clock: Clock
  readonly #beats = new Map<RunSession, Beat>()
  #cancelTimer: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** `claimedAt` is the monotonic time just before the claim was sent. */
  add(session: RunSession, claimedAt: number): void {
    this.#beats.set(session, { session, safeUntil: claimedAt + DRIVER_LEASE_MS, unanswered: 0 })
    this.#cancelTimer ??= this.#schedule()
  }

  remove(session: RunSession): void {
    this.#beats.delete(session)
    if (this.#beats.size > 0) return
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  #schedule(): () => void {
    return this.#clock.schedule(DRIVER_LEASE_MS / RENEWALS_PER_LEASE, () => {
      this.#cancelTimer = this.#schedule()
      for (const beat of this.#beats.values()) void this.#renew(beat)
    })
  }

  async #renew(beat: Beat): Promise<void> {
    const { session } = beat
    const fence = session.fence
    if (fence === undefined) return
    const sentAt = this.#clock.monotonic()
    // A store that hangs rejects nothing.
    if (beat.unanswered > 0 && sentAt >= beat.safeUntil) {
      this.#lose(session)
      return
    }
    beat.unanswered += 1
    try {
      await session.stores.drivers.renew({ ...fence, ttlMs: DRIVER_LEASE_MS })
      beat.safeUntil = Math.max(beat.safeUntil, sentAt + DRIVER_LEASE_MS)
    } catch (error) {
      const isLost = isHoldfastError(error, 'DRIVER_LOST')
      if (isLost || this.#clock.monotonic() >= beat.safeUntil) this.#lose(session)
    } finally {
      beat.unanswered -= 1
    }
  }

  #lose(session: RunSession): void {
    this.remove(session)
    session.stop('lost')
  }
}

const heartbeats = new WeakMap<Clock, Heartbeat>()

/** The one heartbeat of a clock. */
export function heartbeatOf(clock: Clock): Heartbeat {
  let heartbeat = heartbeats.get(clock)
  if (heartbeat === undefined) heartbeats.set(clock, (heartbeat = new Heartbeat(clock)))
  return heartbeat
}
