import { isHoldfastError, isTerminalRunStatus } from '@holdfast/core'
import type { SandboxInstanceRecord } from '@holdfast/core'
import { toRunError } from '../runs/run-error.ts'
import { reclaimRun } from './reclaim-run.ts'
import type { SweepOutcome } from './sweep-outcome.ts'
import type { SweepTarget } from './sweep-target.ts'

/** Since when the service does not list the row's sandbox. One look is not enough, because a list may lag behind. */
const MISSING_LABEL = 'holdfast.missing-since'

/** Undefined for a row that is as it should be. The row is old enough. */
export async function sweepRow(
  target: SweepTarget,
  row: SandboxInstanceRecord,
  isListed: boolean,
): Promise<SweepOutcome | undefined> {
  if (!target.isOwn(row) || (row.state ?? 'ready') !== 'ready') return undefined
  if (!isListed) return guarded(row, 'missing', () => sweepMissing(target, row))
  if (row.labels?.[MISSING_LABEL] !== undefined && !target.dryRun) await relabel(target, row, undefined)
  if (!(await hasOutlivedRun(target, row))) return undefined
  return guarded(row, 'run-ended', () => destroyOutlived(target, row))
}

type Result = Pick<SweepOutcome, 'outcome' | 'because' | 'error'>

async function guarded(
  row: SandboxInstanceRecord,
  reason: SweepOutcome['reason'],
  work: () => Promise<Result>,
): Promise<SweepOutcome> {
  const found = { sandboxId: row.providerSandboxId, key: row.key, reason }
  try {
    return { ...found, ...(await work()) }
  } catch (error) {
    if (isHoldfastError(error, 'LOCK_TIMEOUT')) return { ...found, outcome: 'kept', because: 'in-use' }
    return { ...found, outcome: 'failed', error: toRunError(error) }
  }
}

/** Forgets a row that was missing at an earlier look too, long enough ago. A vendor snapshot is worth its row. */
async function sweepMissing(target: SweepTarget, row: SandboxInstanceRecord): Promise<Result> {
  const since = Number(row.labels?.[MISSING_LABEL])
  if (target.dryRun) return { outcome: 'kept', because: 'dry-run' }
  if (!Number.isFinite(since)) {
    await relabel(target, row, String(target.now))
    return { outcome: 'kept', because: 'seen-first' }
  }
  if (target.now - since < target.minAgeMs) return { outcome: 'kept', because: 'too-young' }
  const isUsed = (await target.stores.runs.findActiveRun?.(row.threadId)) ?? null
  if (isUsed !== null || row.latestSnapshotId !== undefined) return { outcome: 'kept', because: 'in-use' }
  return target.withLock(row.key, async () => {
    if (!(await isUnchanged(target, row))) return { outcome: 'kept', because: 'in-use' }
    await target.stores.instances.delete(row.key)
    return { outcome: 'forgotten' }
  })
}

async function relabel(target: SweepTarget, row: SandboxInstanceRecord, since: string | undefined): Promise<void> {
  await target.withLock(row.key, async () => {
    if (!(await isUnchanged(target, row))) return
    const { [MISSING_LABEL]: _before, ...labels } = row.labels ?? {}
    const now = since === undefined ? {} : { [MISSING_LABEL]: since }
    await target.stores.instances.upsert({ ...row, labels: { ...labels, ...now } })
  })
}

async function isUnchanged({ stores }: SweepTarget, seen: SandboxInstanceRecord): Promise<boolean> {
  const row = await stores.instances.get(seen.key)
  return row !== null && row.updatedAt === seen.updatedAt && row.state === seen.state
}

/** A crash between the end of a run and the end of its sandbox leaves one that its definition would not keep. */
async function hasOutlivedRun({ stores, sandbox }: SweepTarget, row: SandboxInstanceRecord): Promise<boolean> {
  if (sandbox === undefined || row.latestRunId === undefined) return false
  if (!sandbox.lifecycle.destroyOnComplete && sandbox.lifecycle.reuse !== 'none') return false
  const run = await stores.runs.get(row.latestRunId)
  return run === null || isTerminalRunStatus(run.status)
}

async function destroyOutlived(target: SweepTarget, row: SandboxInstanceRecord): Promise<Result> {
  const { stores, sandbox, clock, dryRun } = target
  if (sandbox === undefined || row.latestRunId === undefined) return { outcome: 'kept', because: 'in-use' }
  if (dryRun) return { outcome: 'kept', because: 'dry-run' }
  const outcomes = await reclaimRun({ stores, sandbox, clock }, { runId: row.latestRunId, threadId: row.threadId })
  const result = outcomes.find(({ key }) => key === row.key)
  if (result === undefined || result.outcome === 'kept') return { outcome: 'kept', because: 'in-use' }
  return { outcome: result.outcome, ...(result.error === undefined ? {} : { error: result.error }) }
}
