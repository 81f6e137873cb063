import { isHoldfastError, RunConflictError, systemClock } from '@holdfast/core'
import { findOwnThread } from '../runs/own-thread.ts'
import type { Run } from '../runs/run.ts'
import { startRun } from '../runs/start-run.ts'
import type { StartRunInput } from '../runs/start-run.ts'
import { queueServerOf } from './queue-registry.ts'

/** A run that has begun, or the promise of one that waits in the queue and is stored there. */
export type Begun = { run: Run; queued?: undefined } | { run?: undefined; queued: Promise<Run> }

/** Begins at once when the thread is free and nobody waits for it, else takes the last place in its queue. */
export async function beginOrQueue(input: StartRunInput): Promise<Begun> {
  const { stores, chat, clock = systemClock, tenant = {} } = input
  const { threadId, runId } = chat
  const server = queueServerOf(stores, threadId, clock)
  const start: StartRunInput = { ...input, whenBusy: 'reject' }
  if ((await server.queue.entries()).length === 0) {
    const run = await startRun(start).catch(undefinedWhenBusy)
    if (run !== undefined) return { run }
  } else {
    await findOwnThread(stores, threadId, tenant)
    if ((await stores.runs.get(runId)) !== null) throw existsError(runId)
  }
  await server.queue.enter({ chat, tenant })
  return { queued: server.wait(start) }
}

function undefinedWhenBusy(error: unknown): undefined {
  if (!isHoldfastError(error, 'THREAD_BUSY')) throw error
}

function existsError(runId: string): RunConflictError {
  return new RunConflictError('DRIVER_HELD', `Run ${runId} exists already; attach to it.`, { details: { runId } })
}
