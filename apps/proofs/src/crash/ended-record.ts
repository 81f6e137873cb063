import { setTimeout as wait } from 'node:timers/promises'
import type { HoldfastStores, RunRecord } from '@holdfast/core'
import { settleOrphan } from '@holdfast/middleware'

/** The record is written after the last event; a host that died in between is followed by whoever looks after orphans. */
export async function endedRecord(stores: HoldfastStores, runId: string): Promise<RunRecord | null> {
  for (const deadline = performance.now() + 10_000; performance.now() < deadline; await wait(100)) {
    const record = await stores.runs.get(runId)
    if (record === null || record.status !== 'running') return record
    await settleOrphan({ stores, runId })
  }
  return stores.runs.get(runId)
}
