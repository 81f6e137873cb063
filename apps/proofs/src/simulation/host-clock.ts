import type { Clock } from '@holdfast/core'
import type { SimHost } from './sim-host.ts'
import type { SimWorld } from './sim-world.ts'

/** A host's own clock: its timers end with it, wait while it is frozen, and its wall clock may be wrong. */
export class HostClock implements Clock {
  readonly #world: SimWorld
  readonly #host: SimHost
  /** Timers that came due while the host was frozen. */
  readonly #late: (() => void)[] = []
  readonly #timers = new Set<() => void>()
  wallOffsetMs = 0

  constructor(world: SimWorld, host: SimHost) {
    this.#world = world
    this.#host = host
  }

  now(): number {
    return this.#world.clock.now() + this.wallOffsetMs
  }

  monotonic(): number {
    return this.#world.clock.monotonic()
  }

  schedule(ms: number, fn: () => void): () => void {
    if (this.#host.isDead) return () => undefined
    let isCancelled = false
    const fire = (): void => {
      if (isCancelled || this.#host.isDead) return
      if (this.#host.isFrozen) this.#late.push(fire)
      else fn()
    }
    const cancelTimer = this.#world.clock.schedule(ms, () => {
      this.#timers.delete(cancelTimer)
      fire()
    })
    this.#timers.add(cancelTimer)
    return () => {
      isCancelled = true
      this.#timers.delete(cancelTimer)
      cancelTimer()
    }
  }

  /** All that came due meanwhile fires now. */
  thaw(): void {
    for (const fire of this.#late.splice(0)) fire()
  }

  stop(): void {
    for (const cancelTimer of this.#timers) cancelTimer()
    this.#timers.clear()
    this.#late.length = 0
  }
}
