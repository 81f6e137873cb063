import { systemClock } from '../clock.ts'
import type { Clock } from '../clock.ts'
import { ProviderError } from '../errors/error-classes.ts'

/** How long a promise is waited for. */
export interface DeadlineOptions {
  /** Named in the error: `sandbox create`, `file upload`. Holds no secret. */
  operation: string
  timeoutMs: number
  signal?: AbortSignal | undefined
  clock?: Clock | undefined
}

/**
 * Runs `start` with a deadline of our own, so that a promise that never settles cannot hang the caller. Rejects with
 * `PROVIDER_TIMEOUT` after `timeoutMs`, with `signal.reason` on abort, and then aborts the signal that `start` got. A
 * signal that is aborted before means that `start` is not called. What the late promise becomes is ignored.
 */
export function runWithDeadline<T>(
  options: DeadlineOptions,
  start: (signal: AbortSignal) => Promise<T> | T,
): Promise<T> {
  const { operation, timeoutMs, signal, clock = systemClock } = options
  if (signal?.aborted === true) return Promise.reject(signal.reason as Error)
  const inner = new AbortController()
  return new Promise<T>((resolve, reject) => {
    const stop = (reason: unknown): void => {
      settle()
      reject(reason as Error)
      inner.abort(reason)
    }
    const onAbort = (): void => stop(signal?.reason)
    const cancelTimer = clock.schedule(timeoutMs, () => stop(timeoutError(operation, timeoutMs)))
    const settle = (): void => {
      cancelTimer()
      signal?.removeEventListener('abort', onAbort)
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    new Promise<T>((started) => started(start(inner.signal))).finally(settle).then(resolve, reject)
  })
}

function timeoutError(operation: string, timeoutMs: number): ProviderError {
  const message = `${operation} took longer than ${timeoutMs} ms. It may still take effect; check before repeating it.`
  return new ProviderError('PROVIDER_TIMEOUT', message, { details: { operation, timeoutMs }, retryable: true })
}
