import type { RunError, SandboxListing } from '@holdfast/core'
import { toRunError } from '../runs/run-error.ts'
import { sweepListing } from './sweep-listing.ts'
import type { SweepReport } from './sweep-outcome.ts'
import { sweepRow } from './sweep-row.ts'
import { SweepTarget } from './sweep-target.ts'
import type { SweepSandboxesInput } from './sweep-target.ts'

/**
 * Compares what the service says it holds with the instance store, both ways: sandboxes that nothing points at are
 * destroyed, rows whose sandbox is gone are forgotten. A sandbox whose row cannot be read is never touched. Rejects for
 * wrong arguments only; everything else is in the report.
 */
export async function sweepSandboxes(input: SweepSandboxesInput): Promise<SweepReport> {
  const target = new SweepTarget(input)
  const report: SweepReport = { listed: 0, recorded: 0, outcomes: [], errors: [] }
  try {
    const listings = (await target.provider.list?.({ labels: target.labels })) ?? []
    report.listed = listings.length
    const isTrusted = target.trustEmptyStore || !(await isEmpty(target))
    for (const listing of listings) await add(report, () => sweepListing(target, listing, { isTrusted }))
    await sweepRows(target, listings, report)
  } catch (error) {
    report.errors.push(toRunError(error))
  }
  return report
}

async function isEmpty({ stores, provider }: SweepTarget): Promise<boolean> {
  const page = await stores.instances.list?.({ provider: provider.name, limit: 1 })
  return (page?.records.length ?? 0) === 0
}

async function sweepRows(target: SweepTarget, listings: readonly SandboxListing[], report: SweepReport): Promise<void> {
  const listedIds = new Set(listings.map(({ sandboxId }) => sandboxId))
  const { stores, provider, now, minAgeMs } = target
  const query = { provider: provider.name, before: Math.max(0, now - minAgeMs + 1) }
  let cursor: string | undefined
  do {
    const page = await stores.instances.list?.({ ...query, ...(cursor === undefined ? {} : { cursor }) })
    for (const row of page?.records ?? []) {
      await add(report, () => sweepRow(target, row, listedIds.has(row.providerSandboxId)), true)
    }
    cursor = page?.cursor
  } while (cursor !== undefined)
}

async function add(
  report: SweepReport,
  work: () => Promise<SweepReport['outcomes'][number] | undefined>,
  isRow = false,
): Promise<void> {
  const errors: RunError[] = report.errors
  try {
    const outcome = await work()
    if (outcome !== undefined) report.outcomes.push(outcome)
    else if (!isRow) report.recorded += 1
  } catch (error) {
    errors.push(toRunError(error))
  }
}
