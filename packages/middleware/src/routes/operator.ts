import { isRunStatus } from '@holdfast/core'
import { describeRuns } from '../operator/describe-runs.ts'
import { DEFAULT_MAX_DETACHED_MS } from '../reap/reap-options.ts'
import { reapRuns } from '../reap/reap-runs.ts'
import type { ChatRoute } from './chat-route.ts'
import { limitOf } from './query-limit.ts'

/** One reap, for a schedule outside of this process. Answers what it did. */
export const reap: ChatRoute = async (context, request) => {
  await context.access.operator(request, 'reap')
  const { stores, sandbox, limits = {}, takeOver = true, clock } = context.options
  const { maxDetachedMs = DEFAULT_MAX_DETACHED_MS, maxRunMs } = limits
  const report = await reapRuns({
    stores,
    sandbox,
    detachedTtlMs: maxDetachedMs,
    ...(takeOver ? { driver: context.driver } : {}),
    ...(maxRunMs === undefined ? {} : { maxRunMs }),
    ...(clock === undefined ? {} : { clock }),
  })
  return Response.json(report)
}

/** Runs of all tenants with their drivers and sandboxes, newest first. */
export const listOperatorRuns: ChatRoute = async (context, request) => {
  await context.access.operator(request, 'operate')
  const query = new URL(request.url).searchParams
  const status = query.get('status')
  const threadId = query.get('threadId')
  const runs = await describeRuns({
    stores: context.options.stores,
    limit: limitOf(query),
    ...(isRunStatus(status) ? { status } : {}),
    ...(threadId === null ? {} : { threadId }),
  })
  return Response.json({ runs })
}
