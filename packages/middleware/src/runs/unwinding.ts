import { sleep } from '@holdfast/core'
import type { RunSession } from './run-session.ts'

/** How long a model loop may take to unwind after a stop before this host ends the run without it. */
const UNWIND_GRACE_MS = 1_000

/** The signal aborts once the run was asked to stop and has had its time. Disposed, it never does. */
export function whenUnwindingTakesTooLong(session: RunSession): { signal: AbortSignal; dispose: () => void } {
  const overdue = new AbortController()
  const end = new AbortController()
  session.onStop(() => {
    sleep(session.clock, UNWIND_GRACE_MS, end.signal).then(
      () => overdue.abort(),
      () => undefined,
    )
  })
  return { signal: overdue.signal, dispose: () => end.abort() }
}
