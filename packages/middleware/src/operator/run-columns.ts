import { showTime } from './print-rows.ts'
import type { Columns } from './print-rows.ts'
import type { RunDescription } from './describe-runs.ts'

/** How a run looks in a list. */
export const RUN_COLUMNS: Columns<RunDescription> = {
  RUN: (run) => run.runId,
  THREAD: (run) => run.threadId,
  STATUS: (run) => stateOf(run),
  STARTED: (run) => showTime(run.startedAt),
  DETACHED: (run) => showTime(run.detachedSince),
  EPOCH: (run) => run.driver?.epoch,
  LEASE: (run) => showTime(run.driver?.expiresAt),
  HOST: (run) => run.driver?.owner,
  SANDBOX: (run) => run.sandboxes.map(({ providerSandboxId, state }) => `${providerSandboxId} (${state})`).join(', '),
}

function stateOf({ status, isOrphaned, cancelRequested }: RunDescription): string {
  if (isOrphaned) return `${status}, host lost`
  return status === 'running' && cancelRequested === true ? `${status}, cancelled` : status
}
