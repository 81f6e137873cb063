import { EventType } from '@tanstack/ai'
import type { StreamChunk } from '@tanstack/ai'
import type { RunOutcome } from './run-outcome.ts'
import type { RunSession } from './run-session.ts'
import { isInterruptChunk } from './terminal-chunk.ts'

/** How a run ended whose stream is over: what was asked for, what the hooks said, else what the last chunk says. */
export function outcomeOfEnd(session: RunSession, last: StreamChunk | undefined): RunOutcome {
  return session.stoppedOutcome() ?? session.outcome ?? outcomeOfLastChunk(last)
}

/** An end without a terminal chunk is a failure, never a success. */
export function outcomeOfLastChunk(last: StreamChunk | undefined): RunOutcome {
  if (last?.type === EventType.RUN_FINISHED)
    return isInterruptChunk(last) ? { status: 'interrupted' } : { status: 'completed' }
  if (last?.type !== EventType.RUN_ERROR) {
    return { status: 'failed', error: { message: 'The model loop ended without a result.' } }
  }
  const { message, code } = last as { message?: string; code?: string }
  return { status: 'failed', error: { message: message ?? 'The run failed.', ...(code === undefined ? {} : { code }) } }
}
