import { systemClock } from '@holdfast/core'
import type { Clock, HoldfastStores } from '@holdfast/core'
import type { SandboxDefinition } from '../definition/sandbox-definition.ts'
import { cancelQueued } from '../queue/end-queued.ts'
import { reclaimRun } from '../reap/reclaim-run.ts'
import { reportSandboxFailure } from '../session/report-sandbox-failure.ts'
import { findSession } from './session-registry.ts'
import { settleOrphan } from './settle-orphan.ts'
import { workspaceRedactor } from '../secrets/workspace-redactor.ts'

/** Which run is to stop, and whether its sandbox stays. */
export interface CancelRunInput {
  stores: HoldfastStores
  runId: string
  /** Keeps the sandbox where its processes provably died. Default false: it is destroyed. */
  keepSandbox?: boolean
  /** Destroys the sandbox of a run whose host is dead. Without it that sandbox is marked for the reaper. */
  sandbox?: SandboxDefinition
  clock?: Clock
}

/**
 * Records that a person wants the run to end, and ends it: at once when this process drives it, within 2 s when another
 * does, here when its host is dead, and before it has begun when it waits in a queue. An unknown or ended run is a no-op.
 * Repeatable.
 */
export async function cancelRun(input: CancelRunInput): Promise<void> {
  const { stores, runId, keepSandbox = false, clock = systemClock } = input
  if (await cancelQueued({ stores, clock }, runId)) return
  await stores.drivers.requestCancel({ runId, keepSandbox })
  const session = findSession(stores, runId)
  if (session !== undefined) session.stop('cancel', { keepSandbox })
  else if ((await settleOrphan(input)) === 'settled') await reclaim(input)
}

/** What fails here is condemned already, so the reaper does it. */
async function reclaim({ stores, runId, sandbox, clock = systemClock }: CancelRunInput): Promise<void> {
  if (sandbox === undefined) return
  try {
    const record = await stores.runs.get(runId)
    if (record !== null) await reclaimRun({ stores, sandbox, clock }, record)
  } catch (error) {
    reportSandboxFailure(
      `The sandbox of run ${runId} is left to the reaper`,
      error,
      workspaceRedactor(sandbox.workspace),
    )
  }
}
