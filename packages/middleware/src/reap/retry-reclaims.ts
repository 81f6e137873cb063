import type { SandboxInstanceRecord, SandboxInstanceState } from '@holdfast/core'
import { FIRST_RETRY_MS, isRetryDue } from './reclaim-backoff.ts'
import type { ReclaimOutcome } from './reclaim-outcome.ts'
import { isOwnRow, reclaimSandbox } from './reclaim-sandbox.ts'
import type { ReclaimInput } from './reclaim-sandbox.ts'

/** An intent this old whose lock is free was left by a crash: no build takes a break of this length. */
const STALE_INTENT_MS = 5 * 60_000

export interface RetryReclaimsInput extends ReclaimInput {
  limit: number
}

/** Tries again to destroy what could not be destroyed, and what a crash left half-built, oldest first, with back-off. */
export async function retryReclaims(input: RetryReclaimsInput): Promise<ReclaimOutcome[]> {
  const due = [
    ...(await dueRows(input, 'condemned', FIRST_RETRY_MS)),
    ...(await dueRows(input, 'intent', STALE_INTENT_MS)),
  ]
  const outcomes: ReclaimOutcome[] = []
  for (const row of due.slice(0, input.limit)) outcomes.push(await reclaimSandbox(input, row))
  return outcomes
}

async function dueRows(
  { stores, sandbox, clock, limit }: RetryReclaimsInput,
  state: SandboxInstanceState,
  minAgeMs: number,
): Promise<SandboxInstanceRecord[]> {
  const now = clock.now()
  const query = { provider: sandbox.provider.name, state, before: Math.max(0, now - minAgeMs + 1) }
  const due: SandboxInstanceRecord[] = []
  let cursor: string | undefined
  do {
    const page = await stores.instances.list?.({ ...query, ...(cursor === undefined ? {} : { cursor }) })
    due.push(...(page?.records ?? []).filter((row) => isOwnRow(sandbox, row) && isRetryDue(row, now)))
    cursor = page?.cursor
  } while (cursor !== undefined && due.length < limit)
  return due
}
