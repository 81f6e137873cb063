import { readBoundedText } from '../runs/bounded-text.ts'
import { cancelRun } from '../runs/cancel-run.ts'
import { findQueuedSend } from '../queue/queued-send.ts'
import type { ChatRoute, ChatRouteContext } from './chat-route.ts'

const MAX_BODY_BYTES = 10_000

/** 202 when the run is asked to stop; 200 when there is nothing to stop. `{keepSandbox: true}` in the body is optional. */
export const cancel: ChatRoute = async (context, request, { runId = '' }) => {
  const record = await context.access.run(request, 'cancel', runId)
  const isActive = record === null ? await isQueued(context, request, runId) : record.finishedAt === undefined
  if (!isActive) return Response.json({ runId, cancelled: false })
  const keepSandbox = await wantsSandbox(request)
  const { stores, sandbox, clock } = context.options
  await cancelRun({ stores, sandbox, runId, keepSandbox, ...(clock === undefined ? {} : { clock }) })
  return Response.json({ runId, cancelled: true }, { status: 202 })
}

/** It has no record yet, so that its thread says whose it is. */
async function isQueued({ access, options }: ChatRouteContext, request: Request, runId: string): Promise<boolean> {
  const send = await findQueuedSend(options.stores, runId)
  if (send === null) return false
  await access.thread(request, 'cancel', send.chat.threadId)
  return true
}

async function wantsSandbox(request: Request): Promise<boolean> {
  const text = await readBoundedText(request, MAX_BODY_BYTES)
  if (text.trim() === '') return false
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null && Reflect.get(body, 'keepSandbox') === true
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}
