import { orAborted } from '../or-aborted.ts'

/** The same items until the signal aborts: then its reason, whatever the source is waiting for. */
export async function* untilAborted<T>(
  source: AsyncGenerator<T, void>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void> {
  try {
    for (;;) {
      signal?.throwIfAborted()
      const result = await orAborted(source.next(), signal)
      if (result.done === true) return
      yield result.value
    }
  } finally {
    // A source that still waits cannot be ended before it has what it waits for.
    source.return().catch(() => undefined)
  }
}
