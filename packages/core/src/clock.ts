/** Time, injected so that logic can be tested without waiting. */
export interface Clock {
  /** Wall clock, epoch milliseconds. May jump. */
  now(): number
  /** Milliseconds that never go back. On Linux it stands still while the machine is suspended, not while a process is. */
  monotonic(): number
  /** Calls `fn` once after `ms`. Returns a function that cancels it; cancelling twice is harmless. */
  schedule(ms: number, fn: () => void): () => void
}

/** The machine's own time. Its timers do not keep a process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(ms, fn) {
    const timer = setTimeout(fn, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

/** Resolves after `ms` by `clock`, or rejects with the signal's reason. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const onAbort = (): void => {
      cancel()
      reject(signal?.reason as Error)
    }
    const cancel = clock.schedule(ms, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
