import { isHoldfastError } from '@holdfast/core'
import { attachRun } from '../runs/attach-run.ts'
import { beginRun } from '../runs/begin-run.ts'
import { readChatRequest } from '../runs/request-body.ts'
import type { ChatRequest } from '../runs/request-body.ts'
import type { Run } from '../runs/run.ts'
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
    const run = await begin(context, body, tenant)
    return run.respond(context.driver.drive(run, { request, forwardedProps: body.forwardedProps }))
  } catch (error) {
    const exists = isHoldfastError(error, 'DRIVER_HELD') || isHoldfastError(error, 'RUN_TERMINAL')
    if (!exists) throw error
    return join(context, request, body, '-1')
  }
}

function begin({ options }: ChatRouteContext, chatRequest: ChatRequest, tenant: Tenant): Promise<Run> {
  const { stores, detachOnDisconnect = true, clock } = options
  return beginRun({ stores, chat: chatRequest, tenant, detachOnDisconnect, ...(clock === undefined ? {} : { clock }) })
}

async function join(context: ChatRouteContext, request: Request, body: ChatRequest, offset: string): Promise<Response> {
  await context.access.thread(request, 'read', body.threadId)
  return attachRun({ ...attachOptions(context), request, runId: body.runId, offset })
}
