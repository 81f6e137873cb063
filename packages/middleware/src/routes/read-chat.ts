import { InvalidInputError, NotFoundError, OFFSET_START } from '@holdfast/core'
import { resolveResumeRunId } from '@tanstack/ai'
import { hydrateThread } from '../persistence/hydrate-thread.ts'
import { findQueuedSend } from '../queue/queued-send.ts'
import { attachRun } from '../runs/attach-run.ts'
import { eventStreamResponse } from '../runs/event-stream-response.ts'
import { attachOptions } from './attach-options.ts'
import type { ChatRoute, ChatRouteContext } from './chat-route.ts'

/** With `threadId`: what a client needs to paint the thread. With a run id: the run's events from a position on. */
export const readChat: ChatRoute = async (context, request) => {
  const { stores } = context.options
  const runId = resolveResumeRunId(request)
  if (runId !== null) {
    const record = await context.access.run(request, 'read', runId)
    if (record === null) return readQueued(context, request, runId)
    return attachRun({ ...attachOptions(context), request, runId })
  }
  const threadId = new URL(request.url).searchParams.get('threadId')
  if (threadId === null) throw new InvalidInputError('INVALID_ARGUMENT', 'Name a threadId or a runId.')
  const isNew = await context.access.thread(request, 'read', threadId).then(
    () => false,
    (error: unknown) => isMissingThread(error),
  )
  if (isNew) return Response.json({ messages: [], activeRun: null, interrupts: null })
  return Response.json(await hydrateThread(stores, threadId))
}

/** A run that waits for its thread has no record and no events yet; its log is the one that it will have. */
async function readQueued({ access, options }: ChatRouteContext, request: Request, runId: string): Promise<Response> {
  const { stores, clock } = options
  const send = await findQueuedSend(stores, runId)
  if (send === null) throw new NotFoundError('RUN_NOT_FOUND', `No run ${runId}.`, { details: { runId } })
  await access.thread(request, 'read', send.chat.threadId)
  const log = stores.eventLog.open({ runId, offset: OFFSET_START })
  return eventStreamResponse(log, clock === undefined ? {} : { clock })
}

/** A thread starts with its first message, so a client may well paint one that is not there yet. */
function isMissingThread(error: unknown): true {
  if (error instanceof NotFoundError && error.code === 'THREAD_NOT_FOUND') return true
  throw error
}
