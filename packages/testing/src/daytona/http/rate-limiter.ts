import type { DaytonaKnobs, Throttler } from '../daytona-knobs.ts'
import type { Exchange } from './exchange.ts'
import { apiError } from './wire-error.ts'

interface Window {
  startedAt: number
  count: number
}

const CREATES = /^POST \/sandbox(\/:sandbox\/fork)?$/
const LIFECYCLE = /^(DELETE \/sandbox\/:sandbox|POST \/sandbox\/:sandbox\/(start|stop|pause|recover|resize|archive))$/

/** Counts per organization and throttler, across routes, in windows by the server's clock [A190]. */
export class RateLimiter {
  readonly #knobs: DaytonaKnobs
  readonly #now: () => number
  readonly #windows = new Map<string, Window>()

  constructor(knobs: DaytonaKnobs, now: () => number) {
    this.#knobs = knobs
    this.#now = now
  }

  /** Every control API route counts as `authenticated`; some count for a second throttler. */
  check(exchange: Exchange, organizationId: string): void {
    const { route } = exchange.record
    this.count(exchange, 'authenticated', organizationId)
    if (CREATES.test(route)) this.count(exchange, 'sandbox-create', organizationId)
    if (LIFECYCLE.test(route)) this.count(exchange, 'sandbox-lifecycle', organizationId)
  }

  count(exchange: Exchange, throttler: Throttler, key: string): void {
    const limit = this.#knobs.rateLimits[throttler]
    if (!limit) return
    const window = this.#window(`${throttler} ${key}`, limit.windowMs)
    window.count += 1
    const resetSeconds = Math.max(1, Math.ceil((window.startedAt + limit.windowMs - this.#now()) / 1_000))
    exchange.setHeader(`x-ratelimit-limit-${throttler}`, String(limit.limit))
    exchange.setHeader(`x-ratelimit-remaining-${throttler}`, String(Math.max(0, limit.limit - window.count)))
    exchange.setHeader(`x-ratelimit-reset-${throttler}`, String(resetSeconds))
    if (window.count <= limit.limit) return
    throw apiError(429, 'ThrottlerException: Too Many Requests', { 'retry-after': String(resetSeconds) })
  }

  #window(key: string, windowMs: number): Window {
    const now = this.#now()
    const current = this.#windows.get(key)
    if (current && now - current.startedAt < windowMs) return current
    const fresh = { startedAt: now, count: 0 }
    this.#windows.set(key, fresh)
    return fresh
  }
}
