import { sleep } from '@holdfast/core'
import { toRunError } from './run-error.ts'
import type { RunSession } from './run-session.ts'

/** After a store failure the flag is asked for again this much later. */
const RETRY_MS = 2_000

/** Stops the run when any process asks for its cancel. Ends with the session. */
export function watchCancel(session: RunSession): void {
  const end = new AbortController()
  void session.ended.then(() => end.abort())
  void waitForCancel(session, end.signal)
}

async function waitForCancel(session: RunSession, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const request = await session.stores.drivers.onCancel(session.runId, signal)
      session.stop('cancel', { keepSandbox: request.keepSandbox })
      return
    } catch (error) {
      if (signal.aborted) return
      reportWatchFailure(session, error)
      await sleep(session.clock, RETRY_MS, signal).catch(() => undefined)
    }
  }
}

function reportWatchFailure(session: RunSession, error: unknown): void {
  process.emitWarning(`Cannot watch for a cancel of run ${session.runId}; trying again.`, {
    code: 'HOLDFAST_CANCEL_WATCH',
    detail: toRunError(error, session.redactor).message,
  })
}
