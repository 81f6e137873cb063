import type { FencedLockStore, FencingToken, LockLease, LockOptions } from '../coordination/lock-store.ts'
import { ConflictError } from '../errors/error-classes.ts'
import { assertId, assertMs } from '../identifier.ts'
import { MemoryState } from './memory-state.ts'

interface Waiter {
  grant: () => void
}

/**
 * One callback at a time for each key, in one process, first come first served. A lease cannot lapse here: its holder
 * and its store die together.
 */
export class MemoryLockStore implements FencedLockStore {
  readonly #state: MemoryState
  /** Keys that are held, each with those who wait. */
  readonly #queues = new Map<string, Waiter[]>()
  #lastToken = 0

  constructor(state = new MemoryState()) {
    this.#state = state
  }

  async withLock<T>(
    key: string,
    fn: (signal: AbortSignal, lease?: LockLease) => Promise<T>,
    options: LockOptions = {},
  ): Promise<T> {
    this.#state.assertOpen()
    assertId('key', key)
    if (options.waitMs !== undefined) assertMs('waitMs', options.waitMs)
    options.signal?.throwIfAborted()
    await this.#acquire(key, options)
    this.#lastToken += 1
    const lease: LockLease = { key, token: this.#lastToken as FencingToken }
    try {
      return await fn(new AbortController().signal, lease)
    } finally {
      this.#release(key)
    }
  }

  #acquire(key: string, options: LockOptions): Promise<void> {
    const queue = this.#queues.get(key)
    if (queue !== undefined) return this.#wait(key, queue, options)
    this.#queues.set(key, [])
    return Promise.resolve()
  }

  #wait(key: string, queue: Waiter[], { signal, waitMs }: LockOptions): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const settle = (): void => {
        const position = queue.indexOf(waiter)
        if (position >= 0) queue.splice(position, 1)
        cancelTimer?.()
        forgetClose()
        signal?.removeEventListener('abort', onAbort)
      }
      const stop = (error: unknown): void => {
        settle()
        reject(error as Error)
      }
      const waiter: Waiter = {
        grant: () => {
          settle()
          resolve()
        },
      }
      const onAbort = (): void => stop(signal?.reason)
      const onTimeout = (): void => stop(timeoutError(key, waitMs))
      queue.push(waiter)
      const forgetClose = this.#state.onClose(stop)
      const cancelTimer = waitMs === undefined ? undefined : this.#state.clock.schedule(waitMs, onTimeout)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  #release(key: string): void {
    const next = this.#queues.get(key)?.[0]
    if (next === undefined) this.#queues.delete(key)
    else next.grant()
  }
}

function timeoutError(key: string, waitMs: number | undefined): ConflictError {
  const message = `Lock ${key} was not free within ${waitMs} ms. Try again, or wait longer.`
  return new ConflictError('LOCK_TIMEOUT', message, { details: { key, waitMs }, retryable: true })
}
