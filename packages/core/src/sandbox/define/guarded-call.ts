import { ProviderError } from '../../errors/error-classes.ts'
import { isHoldfastError } from '../../errors/holdfast-error.ts'
import type { SandboxBackend } from '../sandbox-backend.ts'

export type MapError = SandboxBackend['mapError']

/**
 * Calls a backend. A signal that is aborted before rejects with its reason and calls nothing. Every rejection is a
 * Holdfast error, or the reason of the signal.
 */
export async function guardedCall<T>(
  mapError: MapError,
  operation: string,
  signal: AbortSignal | undefined,
  call: () => Promise<T> | T,
): Promise<T> {
  signal?.throwIfAborted()
  try {
    return await call()
  } catch (error) {
    throw backendError(mapError, operation, signal, error)
  }
}

/** What the caller of `operation` gets for a backend's rejection. */
export function backendError(
  mapError: MapError,
  operation: string,
  signal: AbortSignal | undefined,
  error: unknown,
): Error {
  if (isHoldfastError(error)) return error
  // The reason of a signal may be any value; it is rethrown as it is.
  if (signal?.aborted === true) return signal.reason as Error
  const mapped = mapError?.(error, operation)
  if (isHoldfastError(mapped)) return mapped
  const message = `${operation} failed at the sandbox provider. The cause has its answer.`
  return new ProviderError('PROVIDER_FAILED', message, { cause: error, details: { operation } })
}

/** The same stream, whose failure is mapped like any other of the backend. */
export function guardedStream(
  stream: ReadableStream<Uint8Array>,
  toError: (error: unknown) => Error,
): ReadableStream<Uint8Array> {
  const reader = stream.getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (error) {
          controller.error(toError(error))
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** The same items, with failures mapped. */
export function guardedIterable<T>(items: AsyncIterable<T>, toError: (error: unknown) => Error): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]: () => {
      const iterator = items[Symbol.asyncIterator]()
      return {
        next: () => iterator.next().catch((error: unknown) => Promise.reject(toError(error))),
        return: () => iterator.return?.() ?? Promise.resolve({ done: true, value: undefined }),
      }
    },
  }
}
