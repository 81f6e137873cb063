import { isHoldfastError } from '@holdfast/core'
import type { Clock, HoldfastStores } from '@holdfast/core'
import { toRunError } from '../runs/run-error.ts'
import { RUN_CANCELLED_CODE, runErrorChunk } from '../runs/terminal-chunk.ts'
import { findQueuedSend } from './queued-send.ts'
import { ThreadQueue } from './thread-queue.ts'

export interface EndQueuedInput {
  stores: HoldfastStores
  clock: Clock
}

/**
 * Ends a run that never began: as failed with this error, else as aborted. Its record keeps it from being started, its log
 * gets the one event that its viewers wait for. A run that has begun meanwhile is left alone. Repeatable.
 */
export async function endQueued(
  { stores, clock }: EndQueuedInput,
  ids: { runId: string; threadId: string },
  failure?: unknown,
): Promise<void> {
  const now = clock.now()
  const status = failure === undefined ? 'aborted' : 'failed'
  const error = failure === undefined ? CANCELLED : toRunError(failure)
  const record = await stores.runs.createOrResume({ ...ids, startedAt: now, status })
  if (record.driverEpoch !== undefined || record.status !== status) return
  const log = stores.eventLog.open({ runId: ids.runId })
  try {
    await log.append([runErrorChunk({ ...error, timestamp: now })])
    await log.close()
  } catch (cause) {
    if (!isHoldfastError(cause, 'LOG_CLOSED')) throw cause
  }
  await stores.runs.update(ids.runId, { finishedAt: now, ...(status === 'failed' ? { error } : {}) })
}

const CANCELLED = { message: 'The run was cancelled while it waited for its turn.', code: RUN_CANCELLED_CODE }

/** Takes a waiting send out of its queue. False when none with this id waits. */
export async function cancelQueued(input: EndQueuedInput, runId: string): Promise<boolean> {
  const send = await findQueuedSend(input.stores, runId)
  if (send === null) return false
  const { threadId } = send.chat
  if (!(await new ThreadQueue(input.stores, threadId, input.clock).leave(runId))) return false
  await endQueued(input, { runId, threadId })
  return true
}

/** Takes everything out of a thread's queue. */
export async function cancelQueue(input: EndQueuedInput, threadId: string): Promise<void> {
  const queue = new ThreadQueue(input.stores, threadId, input.clock)
  for (const { runId } of await queue.entries()) {
    await queue.leave(runId)
    await endQueued(input, { runId, threadId })
  }
}
