import type { RunError, RunRecord } from '@holdfast/core'
import { serveQueues } from '../queue/serve-queues.ts'
import { adoptRun } from '../runs/adopt-run.ts'
import { cancelRun } from '../runs/cancel-run.ts'
import { toRunError } from '../runs/run-error.ts'
import { count } from '../telemetry/count.ts'
import { loadTelemetry } from '../telemetry/load-telemetry.ts'
import { pruneIdleJournals } from './prune-idle-journals.ts'
import { listReapable } from './list-reapable.ts'
import type { ReapableRuns } from './list-reapable.ts'
import type { ReapOutcome, ReapReport } from './reap-outcome.ts'
import { reapConfig } from './reap-options.ts'
import type { ReapConfig, ReapRunsInput } from './reap-options.ts'
import type { ReclaimOutcome } from './reclaim-outcome.ts'
import { reclaimRun } from './reclaim-run.ts'
import { retryReclaims } from './retry-reclaims.ts'

/**
 * Looks after runs that nobody looks after: continues or settles those whose host died, ends those that nobody came back
 * for, starts what waits in a queue whose hosts died, destroys the sandboxes that are left, and removes the journals of
 * ended runs. One run at a time. Any number of hosts may reap at once: the store lets one of them have each run. Rejects
 * for wrong arguments only; everything else is in the report.
 */
export async function reapRuns(input: ReapRunsInput): Promise<ReapReport> {
  const config = reapConfig(input)
  void loadTelemetry()
  const report: ReapReport = { runs: [], sandboxes: [], journals: [], errors: [] }
  const found = await attempt(report.errors, () => listReapable(config))
  if (found !== undefined) await reapListed(config, found, report)
  const { sandbox, stores, clock, limit, driver } = config
  if (driver !== undefined) await attempt(report.errors, () => serveQueues({ stores, driver, clock }))
  if (sandbox !== undefined) {
    const retried = await attempt(report.errors, () => retryReclaims({ stores, sandbox, clock, limit }))
    report.sandboxes.push(...(retried ?? []))
    const pruned = await attempt(report.errors, () => pruneIdleJournals({ stores, sandbox, clock, limit }))
    report.journals.push(...(pruned ?? []))
  }
  for (const { outcome } of report.runs)
    if (outcome !== 'driven') count('holdfast.reaps', { 'holdfast.outcome': outcome })
  for (const { outcome } of report.sandboxes) count('holdfast.reclaims', { 'holdfast.outcome': outcome })
  return report
}

async function reapListed(config: ReapConfig, found: ReapableRuns, report: ReapReport): Promise<void> {
  const expired = found.expired.slice(0, config.limit)
  const abandoned = found.abandoned.slice(0, config.limit - expired.length)
  for (const { runId, threadId } of found.driven) report.runs.push({ runId, threadId, outcome: 'driven' })
  for (const record of expired) await reapOne(config, record, report, expire)
  for (const record of abandoned) await reapOne(config, record, report, adopt)
}

type Act = (config: ReapConfig, record: RunRecord) => Promise<ReapOutcome['outcome']>

async function reapOne(config: ReapConfig, record: RunRecord, report: ReapReport, act: Act): Promise<void> {
  const { runId, threadId } = record
  try {
    const outcome = await act(config, record)
    report.runs.push({ runId, threadId, outcome })
    report.sandboxes.push(...(await reclaimEnded(config, record, outcome)))
  } catch (error) {
    report.runs.push({ runId, threadId, outcome: 'failed', error: toRunError(error) })
  }
}

/** A driver on another host ends the run and its sandbox itself; here that is done when there is none. */
const expire: Act = async ({ stores, clock }, { runId }) => {
  await cancelRun({ stores, runId, clock })
  return 'expired'
}

/** Nobody watches a run that is found by a reap, so its time goes on from when it was left, or starts now. */
const adopt: Act = async ({ stores, driver, clock }, record) => {
  const detachedSince = record.detachedSince ?? clock.now()
  const result = await adoptRun({ stores, runId: record.runId, driver, clock, detachedSince })
  return result === 'unknown-run' ? 'ended' : result
}

async function reclaimEnded(
  { stores, sandbox, clock }: ReapConfig,
  record: RunRecord,
  outcome: ReapOutcome['outcome'],
): Promise<ReclaimOutcome[]> {
  if (sandbox === undefined || (outcome !== 'settled' && outcome !== 'expired')) return []
  return reclaimRun({ stores, sandbox, clock }, record)
}

async function attempt<T>(errors: RunError[], work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    errors.push(toRunError(error))
    return undefined
  }
}
