import { isHoldfastError } from '@holdfast/core'
import type { StreamChunk } from '@tanstack/ai'
import { beginOrQueue } from '../queue/begin-or-queue.ts'
import { respondQueued } from '../queue/respond-queued.ts'
import { attachRun } from '../runs/attach-run.ts'
import { readChatRequest } from '../runs/request-body.ts'
import type { ChatRequest } from '../runs/request-body.ts'
import type { Run } from '../runs/run.ts'
import { startRun } from '../runs/start-run.ts'
import type { Tenant } from '../runs/tenant.ts'
import { attachOptions } from './attach-options.ts'
import type { ChatRoute, ChatRouteContext } from './chat-route.ts'

/**
 * Starts a run and streams it. The run id makes it repeatable: a send whose reply was lost, or a reconnect of its stream,
 * joins the run that is there.
 */
export const sendMessage: ChatRoute = async (context, request) => {
  const body = await readChatRequest(request)
  const tenant = await context.access.tenant(request, 'send', body.threadId)
  const lastEventId = request.headers.get('Last-Event-ID')
  if (lastEventId !== null) return join(context, request, body, lastEventId)
  try {
    return await start(context, request, body, tenant)
  } catch (error) {
    const exists = isHoldfastError(error, 'DRIVER_HELD') || isHoldfastError(error, 'RUN_TERMINAL')
    if (!exists || (await isThreadMissing(context, body.threadId))) throw error
    return join(context, request, body, '-1')
  }
}

async function start(
  context: ChatRouteContext,
  request: Request,
  chat: ChatRequest,
  tenant: Tenant,
): Promise<Response> {
  const { stores, detachOnDisconnect = true, clock, whenBusy = 'reject', takeOver = true } = context.options
  const { forwardedProps } = chat
  const drive = (run: Run): AsyncIterable<StreamChunk> => context.driver.drive(run, { request, forwardedProps })
  const input = {
    stores,
    chat,
    tenant,
    detachOnDisconnect,
    whenBusy,
    ...(takeOver ? { driver: context.driver } : {}),
    ...(clock === undefined ? {} : { clock }),
  }
  if (whenBusy !== 'queue') {
    const run = await startRun(input)
    return run.respond(drive(run))
  }
  const begun = await beginOrQueue(input)
  if (begun.run !== undefined) return begun.run.respond(drive(begun.run))
  return respondQueued({ ...input, queued: begun.queued, drive })
}

/** A host that died between its claim and the thread leaves a run that nobody can join; it is free after the lease. */
async function isThreadMissing({ options }: ChatRouteContext, threadId: string): Promise<boolean> {
  return (await options.stores.threads.find(threadId)) === null
}

async function join(context: ChatRouteContext, request: Request, body: ChatRequest, offset: string): Promise<Response> {
  await context.access.thread(request, 'read', body.threadId)
  return attachRun({ ...attachOptions(context), request, runId: body.runId, offset })
}
