import { cancelRun } from '../runs/cancel-run.ts'
import type { ChatRoute } from './chat-route.ts'

/** 202 when the run is asked to stop; 200 when there is nothing to stop. `{keepSandbox: true}` in the body is optional. */
export const cancel: ChatRoute = async (context, request, { runId = '' }) => {
  const record = await context.access.run(request, 'cancel', runId)
  const isActive = record !== null && record.finishedAt === undefined
  if (!isActive) return Response.json({ runId, cancelled: false })
  const keepSandbox = await wantsSandbox(request)
  const { stores, sandbox } = context.options
  await cancelRun({ stores, sandbox, runId, keepSandbox })
  return Response.json({ runId, cancelled: true }, { status: 202 })
}

async function wantsSandbox(request: Request): Promise<boolean> {
  const text = await request.text()
  if (text.trim() === '') return false
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null && Reflect.get(body, 'keepSandbox') === true
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}
