/**
 * What `work` becomes, or a rejection with the signal's reason when that aborts first. What late work becomes is ignored.
 * For loops: unlike a race with one promise for the abort, it leaves nothing of what it has waited for behind.
 */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error)
    const settle = (): void => signal.removeEventListener('abort', onAbort)
    work.finally(settle).then(resolve, reject)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
}
