import { isRunStatus } from '@holdfast/core'
import type { RunRecord } from '@holdfast/core'
import { isThreadHold } from '../checkpoints/thread/thread-hold-id.ts'
import type { ChatRoute } from './chat-route.ts'
import { limitOf } from './query-limit.ts'
import { ownerIdOf } from '../runs/tenant.ts'

/** Newest first: the runs of one thread, or of all threads of the tenant. */
export const listRuns: ChatRoute = async (context, request) => {
  const { stores } = context.options
  const query = new URL(request.url).searchParams
  const threadId = query.get('threadId') ?? undefined
  const status = query.get('status')
  const limit = limitOf(query)
  const filter = { limit, ...(isRunStatus(status) ? { status } : {}) }
  if (threadId !== undefined) {
    await context.access.thread(request, 'read', threadId)
    return Response.json({ runs: (await stores.drivers.list({ ...filter, threadId })).filter(isTurn) })
  }
  const tenant = await context.access.tenant(request, 'list')
  const runs = await stores.drivers.list(filter)
  return Response.json({ runs: await ofOwner(runs.filter(isTurn), (id) => stores.threads.find(id, ownerIdOf(tenant))) })
}

/** Saving and rewinding hold a thread as runs do; in a list of runs nobody looks for them. */
function isTurn(run: RunRecord): boolean {
  return !isThreadHold(run.runId)
}

async function ofOwner(runs: RunRecord[], find: (threadId: string) => Promise<unknown>): Promise<RunRecord[]> {
  const threadIds = [...new Set(runs.map((run) => run.threadId))]
  const owned = new Set<string>()
  for (const threadId of threadIds) if ((await find(threadId)) !== null) owned.add(threadId)
  return runs.filter((run) => owned.has(run.threadId))
}
