import { isTerminalRunStatus } from '@holdfast/core'
import type { HoldfastStores, RunRecord } from '@holdfast/core'
import { condemnSandboxes, sandboxesOfRun } from '../definition/condemn-sandboxes.ts'
import type { ReclaimOutcome } from './reclaim-outcome.ts'
import { isOwnRow, reclaimSandbox } from './reclaim-sandbox.ts'
import type { ReclaimInput } from './reclaim-sandbox.ts'

/** Destroys what an ended run leaves behind: what is condemned, and what its definition keeps for no longer than a run. */
export async function reclaimRun(
  input: ReclaimInput & { stores: HoldfastStores },
  { runId, threadId }: Pick<RunRecord, 'runId' | 'threadId'>,
): Promise<ReclaimOutcome[]> {
  const { stores, sandbox, clock } = input
  const record = await stores.runs.get(runId)
  if (record !== null && !isTerminalRunStatus(record.status)) return []
  const { destroyOnComplete, reuse } = sandbox.lifecycle
  if (destroyOnComplete || reuse === 'none') await condemnSandboxes({ stores, threadId, runId, clock })
  const outcomes: ReclaimOutcome[] = []
  for (const row of await sandboxesOfRun({ stores, threadId, runId })) {
    if (row.state === 'condemned' && isOwnRow(sandbox, row)) outcomes.push(await reclaimSandbox(input, row))
  }
  return outcomes
}
