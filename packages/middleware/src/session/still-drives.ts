import { isHoldfastError } from '@holdfast/core'
import { DRIVER_LEASE_MS } from '../runs/heartbeat.ts'
import type { SandboxSession } from './sandbox-session.ts'

/**
 * Whether this host may still do something to the sandbox that cannot be taken back. A superseded host may not know it
 * yet when its run fails, and would destroy its successor's sandbox. Rejects when the store cannot say.
 */
export async function stillDrives(session: SandboxSession): Promise<boolean> {
  const run = session.run?.session
  if (run?.fence === undefined) return true
  try {
    await run.stores.drivers.renew({ ...run.fence, ttlMs: DRIVER_LEASE_MS })
    return true
  } catch (error) {
    if (!isHoldfastError(error, 'DRIVER_LOST')) throw error
    run.stop('lost')
    return false
  }
}
