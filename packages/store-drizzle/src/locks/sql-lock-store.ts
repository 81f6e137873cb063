import { randomUUID } from 'node:crypto'
import { assertId, assertMs, ConflictError } from '@holdfast/core'
import type { Clock, FencedLockStore, FencingToken, LockLease, LockOptions } from '@holdfast/core'
import { maybeNumber } from '../database/row.ts'
import { acquireLease } from '../statements/acquire-lease.ts'
import { releaseLease, renewLease } from '../statements/hold-lease.ts'
import type { StoreContext } from '../store-context.ts'
import { encodeWakes, topicToken } from '../wake/wake-topic.ts'
import type { WakeWatch } from '../wake/wake-watch.ts'
import { LeaseKeeper } from './lease-keeper.ts'
import { LocalLine } from './local-line.ts'

export interface SqlLockStoreOptions {
  /** How long a lock outlives a holder that died. Default 30 s. */
  ttlMs?: number
}

const DEFAULT_TTL_MS = 30_000
/** A place in the line is kept this long without a sign of life. */
const WAITER_TTL_MS = 30_000
const REFRESH_MS = 12_000
/** How long a free lock waits for the first in line before anybody may take it. */
const FIRST_IN_LINE_MS = 1_000
/** How long whoever let that pass still counts, without another sign of life. */
const DOUBT_MS = 2_000

interface Holding {
  key: string
  owner: string
  token: number
  askedAt: number
}

export class SqlLockStore implements FencedLockStore {
  readonly #context: StoreContext
  readonly #ttlMs: number
  readonly #line = new LocalLine()

  constructor(context: StoreContext, { ttlMs = DEFAULT_TTL_MS }: SqlLockStoreOptions = {}) {
    this.#context = context
    this.#ttlMs = ttlMs
  }

  withLock = async <T>(
    key: string,
    fn: (signal: AbortSignal, lease?: LockLease) => Promise<T>,
    options: LockOptions = {},
  ): Promise<T> => {
    assertId('key', key)
    const { db, clock } = this.#context
    db.assertOpen()
    const patience = new Patience(clock, { key, closing: db.closing, ...options })
    try {
      const endTurn = await this.#line.enter(key, patience.signal)
      try {
        const holding = await this.#acquire(key, patience.signal)
        patience.end()
        return await this.#hold(holding, fn)
      } finally {
        endTurn()
      }
    } finally {
      patience.end()
    }
  }

  async #hold<T>(holding: Holding, fn: (signal: AbortSignal, lease: LockLease) => Promise<T>): Promise<T> {
    const { key, owner, token, askedAt } = holding
    const keeper = new LeaseKeeper({
      key,
      clock: this.#context.clock,
      ttlMs: this.#ttlMs,
      askedAt,
      renew: async () => (await this.#context.db.row(renewLease, [key, owner, token, this.#ttlMs])) !== undefined,
    })
    try {
      return await fn(keeper.signal, { key, token: token as FencingToken })
    } finally {
      keeper.stop()
      await this.#release(key, owner)
    }
  }

  async #acquire(key: string, signal: AbortSignal): Promise<Holding> {
    const { db, hub, clock } = this.#context
    const owner = randomUUID()
    const watch = hub.watch({ kind: 'lock', id: key })
    try {
      for (;;) {
        signal.throwIfAborted()
        const askedAt = clock.monotonic()
        const params = [key, owner, this.#ttlMs, WAITER_TTL_MS, FIRST_IN_LINE_MS, DOUBT_MS]
        const row = (await db.row(acquireLease, params)) ?? {}
        const token = maybeNumber(row, 'token')
        if (token !== undefined) return { key, owner, token, askedAt }
        await this.#waitForTurn(watch, maybeNumber(row, 'remaining_ms') ?? 0, signal)
      }
    } catch (error) {
      await this.#release(key, owner)
      throw error
    } finally {
      watch.stop()
    }
  }

  /** Until somebody frees the lock, its lease ends, or the place in the line must be kept. */
  async #waitForTurn(watch: WakeWatch, remainingMs: number, signal: AbortSignal): Promise<void> {
    const freeInMs = remainingMs > 0 ? remainingMs + 1 : FIRST_IN_LINE_MS
    const cancel = this.#context.clock.schedule(Math.min(freeInMs, REFRESH_MS), () => watch.wake())
    await watch.next(signal)
    cancel()
  }

  /** A release that fails leaves a lease that ends by itself, and must not hide what the callback gave. */
  async #release(key: string, owner: string): Promise<void> {
    const { db, hub, channel } = this.#context
    const token = topicToken({ kind: 'lock', id: key })
    const [answer] = await Promise.allSettled([db.row(releaseLease, [key, owner, channel, encodeWakes([token])])])
    // Somebody may have come into the line at the same moment, unseen by the release.
    if (answer.status === 'fulfilled' && answer.value === undefined) hub.publish(token)
    else hub.wake([token])
  }
}

/** The caller's signal, its longest wait and a close of the stores, as one signal that counts until the lock is held. */
class Patience {
  readonly #controller = new AbortController()
  readonly #sources: readonly AbortSignal[]
  readonly #cancelTimer: () => void

  constructor(clock: Clock, { key, closing, signal, waitMs }: LockOptions & { key: string; closing: AbortSignal }) {
    signal?.throwIfAborted()
    if (waitMs !== undefined) assertMs('waitMs', waitMs)
    this.#sources = signal === undefined ? [closing] : [closing, signal]
    for (const source of this.#sources) source.addEventListener('abort', this.#onAbort, { once: true })
    const message = `The lock ${key} was not free within ${waitMs} ms; try again later.`
    const timeout = (): void =>
      this.#controller.abort(new ConflictError('LOCK_TIMEOUT', message, { details: { key }, retryable: true }))
    this.#cancelTimer = waitMs === undefined ? () => {} : clock.schedule(waitMs, timeout)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  end(): void {
    for (const source of this.#sources) source.removeEventListener('abort', this.#onAbort)
    this.#cancelTimer()
  }

  #onAbort = (event: Event): void => this.#controller.abort((event.target as AbortSignal).reason)
}
