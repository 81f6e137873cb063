import { MAX_PAGE_SIZE } from '@holdfast/core'
import type { RunRecord } from '@holdfast/core'
import type { ReapConfig } from './reap-options.ts'

/** Runs that a reap has to do with, each once. */
export interface ReapableRuns {
  /** To be ended: nobody has watched them for too long, or they have run for too long. */
  expired: RunRecord[]
  /** Their host is gone, or nobody can tell. */
  abandoned: RunRecord[]
  /** Nobody watches them, and a live host drives them. */
  driven: RunRecord[]
}

/** One query for orphans, one for detached runs, and one for long ones when there is a limit. Expiry is decided here. */
export async function listReapable(config: ReapConfig): Promise<ReapableRuns> {
  const { stores, graceMs, limit, maxRunMs, clock } = config
  const now = clock.now()
  const orphaned = await stores.drivers.listOrphaned({ graceMs, limit })
  const detached = (await stores.runs.listReclaimable?.({ now, ttlMs: 0 })) ?? []
  const running = maxRunMs === undefined ? [] : await stores.drivers.list({ status: 'running', limit: MAX_PAGE_SIZE })
  const all = new Map([...running, ...orphaned, ...detached].map((record) => [record.runId, record]))
  const expired = new Map([...all].filter(([, record]) => isExpired(config, record, now)))
  const waiting = detached.filter(({ runId }) => !expired.has(runId))
  const live = await liveRunIds(config, waiting, now)
  return {
    expired: [...expired.values()],
    abandoned: [
      ...orphaned.filter(({ runId }) => !expired.has(runId)),
      ...waiting.filter(({ runId }) => !live.has(runId)),
    ],
    driven: waiting.filter(({ runId }) => live.has(runId)),
  }
}

/** A run that has been asked to end is not asked again: its driver deals with that, or it is abandoned. */
function isExpired({ detachedTtlMs, maxRunMs }: ReapConfig, record: RunRecord, now: number): boolean {
  if (record.cancelRequested === true) return false
  const { detachedSince, startedAt } = record
  if (detachedSince !== undefined && now - detachedSince >= detachedTtlMs) return true
  return maxRunMs !== undefined && now - startedAt >= maxRunMs
}

/** None where the store cannot tell: then each run is tried, and a live driver refuses that. */
async function liveRunIds(
  { stores, graceMs }: ReapConfig,
  records: readonly RunRecord[],
  now: number,
): Promise<ReadonlySet<string>> {
  const live = new Set<string>()
  for (let from = 0; from < records.length; from += MAX_PAGE_SIZE) {
    const runIds = records.slice(from, from + MAX_PAGE_SIZE).map(({ runId }) => runId)
    for (const { runId, isLive, expiresAt } of (await stores.drivers.findDrivers?.({ runIds })) ?? []) {
      if (isLive || (graceMs > 0 && now - expiresAt <= graceMs)) live.add(runId)
    }
  }
  return live
}
