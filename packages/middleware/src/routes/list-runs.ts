import { isRunStatus } from '@holdfast/core'
import type { RunRecord } from '@holdfast/core'
import { isThreadHold } from '../checkpoints/thread/thread-hold-id.ts'
import type { ChatRoute, ChatRouteContext } from './chat-route.ts'
import { limitOf } from './query-limit.ts'
import { ownerIdOf } from '../runs/tenant.ts'

/** Newest first: the runs of one thread, or of all threads of the tenant. */
export const listRuns: ChatRoute = async (context, request) => {
  const { stores } = context.options
  const query = new URL(request.url).searchParams
  const threadId = query.get('threadId') ?? undefined
  const status = query.get('status')
  const limit = limitOf(query)
  const runs = await stores.drivers.list({
    limit,
    ...(isRunStatus(status) ? { status } : {}),
    ...(threadId === undefined ? await ofTenant(context, request) : await ofThread(context, request, threadId)),
  })
  return Response.json({ runs: runs.filter(isTurn) })
}

async function ofTenant({ access }: ChatRouteContext, request: Request): Promise<{ ownerId: string }> {
  return { ownerId: ownerIdOf(await access.tenant(request, 'list')) }
}

async function ofThread(
  { access }: ChatRouteContext,
  request: Request,
  threadId: string,
): Promise<{ threadId: string }> {
  await access.thread(request, 'read', threadId)
  return { threadId }
}

/** Saving and rewinding hold a thread as runs do; in a list of runs nobody looks for them. */
function isTurn(run: RunRecord): boolean {
  return !isThreadHold(run.runId)
}
