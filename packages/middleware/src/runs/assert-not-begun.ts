import { RunConflictError } from '@holdfast/core'
import type { DriverClaim, HoldfastStores } from '@holdfast/core'
import { EventType, RUN_ACCEPTED_EVENT } from '@tanstack/ai'
import { hasTurn } from '../persistence/run-mark.ts'
import type { ChatRequest } from './request-body.ts'
import { isInterruptChunk } from './terminal-chunk.ts'

/**
 * A run that was there before is continued, not begun once more: its tools would do again what they have done. It may
 * begin while nothing of it is stored, and to answer a pause. `DRIVER_HELD` otherwise, with the claim given back.
 */
export async function assertNotBegun(stores: HoldfastStores, chat: ChatRequest, claim: DriverClaim): Promise<void> {
  const { runId, threadId } = chat
  if (claim.created || (chat.resume?.length ?? 0) > 0) return
  const entries = await stores.eventLog.open({ runId }).snapshot()
  // Stored by a response before its run is claimed, so nothing of the run itself.
  const log = entries.filter(({ chunk }) => chunk.type !== EventType.CUSTOM || chunk.name !== RUN_ACCEPTED_EVENT)
  if (log.length === 0 && !hasTurn(await stores.messages.loadThread(threadId), runId)) return
  const last = log.at(-1)?.chunk
  const fence = { runId, epoch: claim.epoch }
  if (last !== undefined && isInterruptChunk(last)) await stores.drivers.finish({ ...fence, status: 'interrupted' })
  else await stores.drivers.release(fence)
  throw new RunConflictError('DRIVER_HELD', `Run ${runId} has begun already; attach to it.`, { details: { runId } })
}
