import { isRunStatus } from '@holdfast/core'
import type { ChatRoute, ChatRouteContext } from './chat-route.ts'
import { listTurns } from './list-turns.ts'
import { limitOf } from './query-limit.ts'
import { ownerIdOf } from '../runs/tenant.ts'

/** Newest first: the runs of one thread, or of all threads of the tenant. */
export const listRuns: ChatRoute = async (context, request) => {
  const { stores } = context.options
  const query = new URL(request.url).searchParams
  const threadId = query.get('threadId') ?? undefined
  const status = query.get('status')
  const limit = limitOf(query)
  const runs = await listTurns(stores.drivers, {
    limit,
    ...(isRunStatus(status) ? { status } : {}),
    ...(threadId === undefined ? await ofTenant(context, request) : await ofThread(context, request, threadId)),
  })
  return Response.json({ runs })
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
