import type { LockStore } from '@tanstack/ai/locks'

/** Only grows for one key: a later holder has a larger token. */
export type FencingToken = number & { readonly __fencingToken: true }

/** Ownership of a lock, as the callback that runs under it sees it. */
export interface LockLease {
  readonly key: string
  /** To be stored with what the lock protects, so that an earlier holder's write can be refused. */
  readonly token: FencingToken
}

/** How one lock is waited for and held. */
export interface LockOptions {
  /** Stops waiting; rejects with its reason. Does not reach into a callback that has started. */
  signal?: AbortSignal
  /** Longest wait; then `LOCK_TIMEOUT`. No limit when left out. */
  waitMs?: number
}

/**
 * TanStack's lock with a lease. The lease renews itself while the callback runs. `signal` aborts with `LEASE_LOST` as
 * soon as ownership is in doubt, that is before another owner could have it, by a monotonic clock. Waiters are served
 * in about the order they came. Time is the store's. Not re-entrant.
 */
export interface FencedLockStore extends LockStore {
  withLock: <T>(
    key: string,
    fn: (signal: AbortSignal, lease?: LockLease) => Promise<T>,
    options?: LockOptions,
  ) => Promise<T>
}

export type { LockStore } from '@tanstack/ai/locks'
