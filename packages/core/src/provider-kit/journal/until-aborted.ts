/** The same items until the signal aborts: then its reason, whatever the source is waiting for. */
export async function* untilAborted<T>(
  source: AsyncGenerator<T, void>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void> {
  let onAbort = (): void => undefined
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal?.reason as Error)
  })
  aborted.catch(() => undefined)
  signal?.addEventListener('abort', onAbort, { once: true })
  if (signal?.aborted === true) onAbort()
  let next: Promise<IteratorResult<T, void>> | undefined
  try {
    for (;;) {
      const result = await Promise.race([aborted, (next = source.next())])
      if (result.done === true) return
      yield result.value
    }
  } finally {
    signal?.removeEventListener('abort', onAbort)
    // A source that still waits cannot be ended before it has what it waits for.
    next?.catch(() => undefined)
    source.return().catch(() => undefined)
  }
}
