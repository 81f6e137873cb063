import type { Clock, HoldfastStores } from '@holdfast/core'
import { count } from '../telemetry/count.ts'
import { loadTelemetry } from '../telemetry/load-telemetry.ts'
import type { RunDriver } from './run-driver.ts'
import { settleOrphan } from './settle-orphan.ts'
import { takeOverRun } from './take-over-run.ts'
import type { TakeOverResult } from './take-over-run.ts'

/** Which lost run this host wants to drive. */
export interface AdoptRunInput {
  stores: HoldfastStores
  runId: string
  /** Continues the run. Without one it is settled. */
  driver?: RunDriver | undefined
  /** Since when nobody watches it, where the caller knows that nobody does. */
  detachedSince?: number
  clock?: Clock
}

/** Does for a run whose host is gone what can be done here. A live driver is never disturbed. Repeatable. */
export async function adoptRun({ driver, ...input }: AdoptRunInput): Promise<TakeOverResult> {
  if (driver === undefined) return settleOrphan(input)
  void loadTelemetry()
  const result = await takeOverRun({ ...input, driver })
  if (result === 'taken-over') count('holdfast.takeovers')
  return result
}
