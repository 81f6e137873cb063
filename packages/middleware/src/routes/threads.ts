import type { HoldfastStores, RunRecord } from '@holdfast/core'
import { sleep, systemClock } from '@holdfast/core'
import type { SandboxEnsureContext } from '../definition/ensure-context.ts'
import { cancelQueue } from '../queue/end-queued.ts'
import { cancelRun } from '../runs/cancel-run.ts'
import { ownerIdOf } from '../runs/tenant.ts'
import type { Tenant } from '../runs/tenant.ts'
import type { ChatRoute, ChatRouteContext } from './chat-route.ts'
import { destroyThreadSandboxes } from './destroy-thread-sandboxes.ts'
import { limitOf } from './query-limit.ts'

/** The tenant's threads, newest first. */
export const listThreads: ChatRoute = async (context, request) => {
  const query = new URL(request.url).searchParams
  const ownerId = ownerIdOf(await context.access.tenant(request, 'list'))
  const cursor = query.get('cursor')
  const page = await context.options.stores.threads.list({
    ownerId,
    limit: limitOf(query),
    ...(cursor === null ? {} : { cursor }),
  })
  return Response.json(page)
}

/** One thread with its active or last run. The hold of a save or a rewind is one too: a page notices it by that. */
export const readThread: ChatRoute = async (context, request, { threadId = '' }) => {
  const { thread } = await context.access.thread(request, 'read', threadId)
  const [latestRun = null] = await context.options.stores.drivers.list({ threadId, limit: 1 })
  return Response.json({ thread, latestRun })
}

/** How long a delete waits for the thread's run to end. */
const END_WAIT_MS = 10_000
const END_POLL_MS = 50

/** Cancels what runs, destroys the sandbox, then erases all that the thread owns. Repeatable. */
export const deleteThread: ChatRoute = async (context, request, { threadId = '' }) => {
  await context.access.thread(request, 'delete', threadId)
  const { stores, sandbox } = context.options
  await endRuns(context, threadId)
  await destroyThreadSandboxes(stores, sandbox, threadId)
  await stores.threads.delete(threadId)
  return new Response(null, { status: 204 })
}

async function endRuns({ options }: ChatRouteContext, threadId: string): Promise<void> {
  const { stores, clock = systemClock } = options
  await cancelQueue({ stores, clock }, threadId)
  const deadline = clock.monotonic() + END_WAIT_MS
  let active = await findActive(stores, threadId)
  if (active !== null) await cancelRun({ stores, runId: active.runId, clock })
  while (active !== null && clock.monotonic() < deadline) {
    await sleep(clock, END_POLL_MS)
    active = await findActive(stores, threadId)
  }
}

function findActive(stores: HoldfastStores, threadId: string): Promise<RunRecord | null> {
  return stores.runs.findActiveRun(threadId)
}

/** The thread's sandbox, outside of any run. */
export function sandboxContext(context: ChatRouteContext, tenant: Tenant, threadId: string): SandboxEnsureContext {
  const { stores, clock } = context.options
  return {
    threadId,
    runId: threadId,
    tenant,
    store: stores.instances,
    locks: stores.locks,
    ...(clock === undefined ? {} : { clock }),
  }
}
