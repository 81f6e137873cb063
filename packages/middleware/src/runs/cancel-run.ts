import type { Clock, HoldfastStores } from '@holdfast/core'
import { findSession } from './session-registry.ts'
import { settleOrphan } from './settle-orphan.ts'

export interface CancelRunInput {
  stores: HoldfastStores
  runId: string
  /** Keeps the sandbox where its processes provably died. Default false: it is destroyed. */
  keepSandbox?: boolean
  clock?: Clock
}

/**
 * Records that a person wants the run to end, and ends it: at once when this process drives it, within 2 s when another
 * does, and here when its host is dead. An unknown or ended run is a no-op. Repeatable.
 */
export async function cancelRun(input: CancelRunInput): Promise<void> {
  const { stores, runId, keepSandbox = false } = input
  await stores.drivers.requestCancel({ runId, keepSandbox })
  const session = findSession(stores, runId)
  if (session === undefined) await settleOrphan(input)
  else session.stop('cancel', { keepSandbox })
}
