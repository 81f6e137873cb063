import { isHoldfastError } from '@holdfast/core'
import type { Clock, HoldfastStores } from '@holdfast/core'
import { adoptRun } from './adopt-run.ts'
import { DRIVER_LEASE_MS } from './heartbeat.ts'
import type { RunDriver } from './run-driver.ts'
import { findSession } from './session-registry.ts'
import { warnOf } from '../secrets/warn-of.ts'

export interface WatchDriverInput {
  stores: HoldfastStores
  runId: string
  clock: Clock
  driver: RunDriver | undefined
}

/** Past the end of a lease, so that the store agrees that it is over. */
const AFTER_LEASE_MS = 250
/** A clock that is ahead of the store's must not ask without a pause. */
const MIN_WAIT_MS = 5_000

/**
 * While somebody watches a run that this process does not drive, its host's death is noticed: right now, and again each
 * time the lease would end. Answers how to stop.
 */
export function watchDriver(input: WatchDriverInput): () => void {
  const { stores, runId, clock, driver } = input
  let cancelTimer: (() => void) | undefined
  let isStopped = false
  const check = async (): Promise<void> => {
    if (findSession(stores, runId) === undefined) {
      const result = await adoptRun({ stores, runId, clock, driver }).catch(keepWatching)
      if (result !== 'driven' && result !== 'taken-over') return
    }
    const waitMs = await untilLeaseEnds(input)
    if (!isStopped) cancelTimer = clock.schedule(waitMs, () => void check())
  }
  void check()
  return () => {
    isStopped = true
    cancelTimer?.()
  }
}

/** A whole lease where the store cannot tell, or while this process drives the run itself. */
async function untilLeaseEnds({ stores, runId, clock }: WatchDriverInput): Promise<number> {
  if (findSession(stores, runId) !== undefined) return DRIVER_LEASE_MS
  const drivers = await stores.drivers.findDrivers?.({ runIds: [runId] }).catch(noneKnown)
  const expiresAt = drivers?.[0]?.expiresAt
  if (expiresAt === undefined) return DRIVER_LEASE_MS
  return Math.min(DRIVER_LEASE_MS, Math.max(MIN_WAIT_MS, expiresAt - clock.now() + AFTER_LEASE_MS))
}

/** The store could not be asked, which the reader itself reports if it lasts; or the app's driver failed. */
function keepWatching(error: unknown): 'driven' {
  if (!isHoldfastError(error)) warnOf(error)
  return 'driven'
}

function noneKnown(error: unknown): undefined {
  keepWatching(error)
}
