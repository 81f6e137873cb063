import { isHoldfastError } from '@holdfast/core'
import type { EventLog } from '@holdfast/core'
import type { StreamChunk } from '@tanstack/ai'
import { condemnSandboxes } from '../definition/condemn-sandboxes.ts'
import { reportSandboxFailure } from '../session/report-sandbox-failure.ts'
import { closeSession } from './open-session.ts'
import { retryStore } from './retry-store.ts'
import { toRunError } from './run-error.ts'
import type { RunOutcome } from './run-outcome.ts'
import type { RunSession } from './run-session.ts'
import { terminalChunkFor } from './terminal-chunk.ts'

export interface FinalizeInput {
  session: RunSession
  log: EventLog
  outcome: RunOutcome
  /** The last terminal chunk of the model loop, when it was held back. */
  held: StreamChunk | undefined
  /** False when the log already ends with a fitting terminal chunk. */
  needsTerminal: boolean
}

/**
 * Ends this host's work on a run: handlers (transcript, sandbox) first, then the last event, the log, the record. A crash
 * between any two of these leaves a running record with a lapsed lease, which `settleOrphan` finishes.
 */
export async function finalizeRun(input: FinalizeInput): Promise<void> {
  const { session, log } = input
  try {
    const outcome = await endOf(session, input.outcome)
    if (outcome.status === 'lost') return
    if (outcome.status === 'detached') {
      await letGo(session)
      return
    }
    if (outcome.status === 'aborted' && !outcome.keepSandbox) await condemnWhatIsLeft(session)
    if (input.needsTerminal || outcome !== input.outcome) {
      const ids = { runId: session.runId, threadId: session.threadId, now: session.clock.now() }
      await log.append([...session.lastEvents, terminalChunkFor(outcome, input.held, ids)])
    }
    await retryStore(session.clock, () => log.close())
    await retryStore(session.clock, () => finishRecord(session, outcome))
  } catch (error) {
    if (!isHoldfastError(error, 'DRIVER_LOST')) throw error
    session.settle({ status: 'lost' })
  } finally {
    closeSession(session)
  }
}

/**
 * A cancelled run may leave a sandbox that no handler has destroyed: one of the host before, whose set-up this host had
 * not reached, or one whose end failed. Whoever reclaims destroys it.
 */
async function condemnWhatIsLeft({ stores, threadId, runId, clock, redactor }: RunSession): Promise<void> {
  try {
    await retryStore(clock, () => condemnSandboxes({ stores, threadId, runId, clock }))
  } catch (error) {
    reportSandboxFailure(`A sandbox of run ${runId} could not be condemned`, error, redactor)
  }
}

/**
 * What the handlers made of it: a failure to store or clean up turns a good end into a failed one. A pause whose question
 * was not stored would wait for an answer that nobody can give.
 */
async function endOf(session: RunSession, outcome: RunOutcome): Promise<RunOutcome> {
  const settled = session.settle(outcome)
  try {
    await session.runEndHandlers(settled)
    return session.outcome ?? settled
  } catch (error) {
    if (isHoldfastError(error, 'DRIVER_LOST')) return session.settle({ status: 'lost' })
    if (settled.status !== 'completed' && settled.status !== 'interrupted') return settled
    return { status: 'failed', error: toRunError(error, session.redactor) }
  }
}

async function letGo(session: RunSession): Promise<void> {
  if (session.fence === undefined) return
  await session.stores.drivers.detach(session.fence)
  await session.stores.drivers.release(session.fence)
}

async function finishRecord(session: RunSession, outcome: RunOutcome): Promise<void> {
  if (session.fence === undefined || outcome.status === 'detached' || outcome.status === 'lost') return
  await session.stores.drivers.finish({
    ...session.fence,
    status: outcome.status,
    ...(outcome.status === 'failed' ? { error: outcome.error } : {}),
    ...(outcome.status === 'completed' && outcome.usage !== undefined ? { usage: outcome.usage } : {}),
  })
}
