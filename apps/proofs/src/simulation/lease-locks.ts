import { ConflictError, LeaseLostError } from '@holdfast/core'
import type { FencingToken, LockLease, LockOptions } from '@holdfast/core'
import type { SimHost } from './sim-host.ts'
import type { SimWorld } from './sim-world.ts'

const LEASE_MS = 30_000
const RENEW_MS = 10_000

interface Holder {
  readonly lease: LockLease
  readonly lost: AbortController
  expiresAt: number
}

interface Waiter {
  readonly host: SimHost
  readonly grant: (holder: Holder) => void
}

/** Locks whose lease lapses when its holder dies or freezes, as those of a database do. */
export class LeaseLocks {
  readonly #world: SimWorld
  readonly #holders = new Map<string, Holder>()
  readonly #waiters = new Map<string, Waiter[]>()
  #lastToken = 0

  constructor(world: SimWorld) {
    this.#world = world
  }

  async withLock<T>(
    host: SimHost,
    key: string,
    fn: (signal: AbortSignal, lease: LockLease) => Promise<T>,
    options: LockOptions = {},
  ): Promise<T> {
    await this.#world.send(host, 'locks.acquire', 'write', () => Promise.resolve())
    options.signal?.throwIfAborted()
    const holder = this.#holders.has(key) ? await this.#wait(host, key, options) : this.#hold(key)
    const stopRenewing = this.#renew(host, holder)
    try {
      return await fn(holder.lost.signal, holder.lease)
    } finally {
      stopRenewing()
      if (!host.isDead && this.#holders.get(key) === holder) this.#passOn(key)
    }
  }

  #hold(key: string): Holder {
    this.#lastToken += 1
    const lease = { key, token: this.#lastToken as FencingToken }
    const holder = { lease, lost: new AbortController(), expiresAt: this.#world.clock.monotonic() + LEASE_MS }
    this.#holders.set(key, holder)
    return holder
  }

  #wait(host: SimHost, key: string, options: LockOptions): Promise<Holder> {
    return new Promise<Holder>((resolve, reject) => {
      const queue = this.#queueOf(key)
      let cancelTimer = (): void => undefined
      const leave = (): void => {
        cancelTimer()
        stopWatching()
        options.signal?.removeEventListener('abort', onAbort)
        if (queue.includes(waiter)) queue.splice(queue.indexOf(waiter), 1)
      }
      const stop = (error: unknown): void => {
        leave()
        reject(error as Error)
      }
      const grant = (holder: Holder): void => {
        leave()
        resolve(holder)
      }
      const waiter: Waiter = { host, grant }
      const onAbort = (): void => stop(options.signal?.reason)
      queue.push(waiter)
      const stopWatching = this.#watchLapse(key)
      options.signal?.addEventListener('abort', onAbort, { once: true })
      if (options.waitMs === undefined) return
      const error = new ConflictError('LOCK_TIMEOUT', `Lock ${key} was not free in time.`, { retryable: true })
      cancelTimer = host.clock.schedule(options.waitMs, () => stop(error))
    })
  }

  #queueOf(key: string): Waiter[] {
    const queue = this.#waiters.get(key) ?? []
    this.#waiters.set(key, queue)
    return queue
  }

  /** The store's own time: who waits gets the lock when its holder's lease has run out. */
  #watchLapse(key: string): () => void {
    let cancelTimer = (): void => undefined
    const look = (): void => {
      const holder = this.#holders.get(key)
      const leftMs = (holder?.expiresAt ?? Number.POSITIVE_INFINITY) - this.#world.clock.monotonic()
      if (leftMs > 0) cancelTimer = this.#world.clock.schedule(Math.min(leftMs, LEASE_MS), look)
      else {
        holder?.lost.abort(new LeaseLostError('LEASE_LOST', `The lock ${key} passed to another owner.`))
        this.#passOn(key)
      }
    }
    cancelTimer = this.#world.clock.schedule(0, look)
    return () => cancelTimer()
  }

  #renew(host: SimHost, holder: Holder): () => void {
    let cancelTimer = (): void => undefined
    const beat = (): void => {
      const now = this.#world.clock.monotonic()
      if (now >= holder.expiresAt) {
        holder.lost.abort(new LeaseLostError('LEASE_LOST', `The lock ${holder.lease.key} is in doubt.`))
        return
      }
      holder.expiresAt = now + LEASE_MS
      cancelTimer = host.clock.schedule(RENEW_MS, beat)
    }
    cancelTimer = host.clock.schedule(RENEW_MS, beat)
    return () => cancelTimer()
  }

  #passOn(key: string): void {
    this.#holders.delete(key)
    const next = this.#queueOf(key).find(({ host }) => !host.isDead)
    next?.grant(this.#hold(key))
  }
}
