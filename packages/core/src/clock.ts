/** Time, injected so that logic can be tested without waiting. */
export interface Clock {
  /** Wall clock, epoch milliseconds. May jump. */
  now(): number
  /** Milliseconds that never go back. On Linux it stands still while the machine is suspended, not while a process is. */
  monotonic(): number
  /** Calls `fn` once after `ms`. Returns a function that cancels it; cancelling twice is harmless. */
  schedule(ms: number, fn: () => void): () => void
}

/** Longest delay of one timer: a longer one would fire at once. */
const MAX_TIMER_MS = 2_147_483_647

/** The machine's own time. Its timers do not keep a process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(ms, fn) {
    if (ms > MAX_TIMER_MS) return scheduleInParts(ms, fn)
    const timer = setTimeout(fn, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

function scheduleInParts(ms: number, fn: () => void): () => void {
  let cancelRest = (): void => undefined
  const cancelFirst = systemClock.schedule(MAX_TIMER_MS, () => {
    cancelRest = systemClock.schedule(ms - MAX_TIMER_MS, fn)
  })
  return () => {
    cancelFirst()
    cancelRest()
  }
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
