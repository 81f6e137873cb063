import type { Clock, HoldfastStores } from '@holdfast/core'
import type { RunDriver } from '../runs/run-driver.ts'
import { startRun } from '../runs/start-run.ts'
import { findQueuedSend } from './queued-send.ts'
import { warnOf } from '../secrets/warn-of.ts'

export interface StartAbandonedInput {
  stores: HoldfastStores
  clock: Clock
  driver: RunDriver
  runId: string
}

/**
 * Starts a send whose host died while it waited, and drives it here. Nobody is known to watch it. A run that has begun, by
 * whomever, is not begun again.
 */
export async function startAbandoned({ stores, clock, driver, runId }: StartAbandonedInput): Promise<void> {
  const send = await findQueuedSend(stores, runId)
  if (send === null || (await stores.runs.get(runId)) !== null) return
  const { chat, tenant } = send
  const run = await startRun({ stores, clock, chat, tenant, driver })
  run.viewerLeft()
  run.drive(driver.drive(run, { forwardedProps: chat.forwardedProps })).catch(warnOf)
}
