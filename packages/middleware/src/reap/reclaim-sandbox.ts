import type { Clock, HoldfastStores, SandboxInstanceRecord } from '@holdfast/core'
import { isHoldfastError } from '@holdfast/core'
import { destroyInTime } from '../definition/destroy-in-time.ts'
import type { SandboxDefinition } from '../definition/sandbox-definition.ts'
import { SANDBOX_LABEL } from '../definition/sandbox-labels.ts'
import { toRunError } from '../runs/run-error.ts'
import type { ReclaimOutcome } from './reclaim-outcome.ts'
import { withFailedAttempt } from './reclaim-backoff.ts'

export interface ReclaimInput {
  stores: Pick<HoldfastStores, 'instances' | 'locks'>
  sandbox: SandboxDefinition
  clock: Clock
}

/** Whoever builds or removes the sandbox holds its lock; then it is none of the reaper's business now. */
const LOCK_WAIT_MS = 1_000

/** Whether the row's sandbox is this definition's. Of any other one nothing is known, so it is left alone. */
export function isOwnRow(sandbox: SandboxDefinition, row: SandboxInstanceRecord): boolean {
  return row.provider === sandbox.provider.name && row.labels?.[SANDBOX_LABEL.app] === sandbox.id
}

/**
 * Destroys the sandbox of a row that is `condemned`, or an `intent` that nobody works on, and then takes the row away. A
 * failure is counted in the row. Never rejects.
 */
export async function reclaimSandbox(input: ReclaimInput, row: SandboxInstanceRecord): Promise<ReclaimOutcome> {
  const { key, providerSandboxId: sandboxId, threadId } = row
  const named = { key, sandboxId, threadId }
  if (!isOwnRow(input.sandbox, row)) return { ...named, outcome: 'kept' }
  try {
    const options = { waitMs: LOCK_WAIT_MS }
    return { ...named, ...(await input.stores.locks.withLock(`sandbox:${key}`, () => reclaim(input, row), options)) }
  } catch (error) {
    if (isHoldfastError(error, 'LOCK_TIMEOUT')) return { ...named, outcome: 'kept' }
    return { ...named, outcome: 'failed', error: toRunError(error) }
  }
}

/** The caller holds the lock. A row that changed meanwhile is somebody's. */
async function reclaim(
  { stores, sandbox, clock }: ReclaimInput,
  seen: SandboxInstanceRecord,
): Promise<Pick<ReclaimOutcome, 'outcome' | 'error'>> {
  const row = await stores.instances.get(seen.key)
  if (row === null) return { outcome: 'destroyed' }
  const isSame = row.updatedAt === seen.updatedAt && row.state === seen.state
  if (!isSame || (row.state !== 'condemned' && row.state !== 'intent')) return { outcome: 'kept' }
  try {
    await destroyInTime(sandbox, row.providerSandboxId, clock)
  } catch (error) {
    await stores.instances.upsert(withFailedAttempt(row, clock.now()))
    return { outcome: 'failed', error: toRunError(error) }
  }
  await forget(stores, row, clock)
  return { outcome: 'destroyed' }
}

/** A build that was to start from the vendor's snapshot leaves that to the next one. */
async function forget(stores: ReclaimInput['stores'], row: SandboxInstanceRecord, clock: Clock): Promise<void> {
  if (row.state !== 'intent' || row.latestSnapshotId === undefined) await stores.instances.delete(row.key)
  else await stores.instances.upsert({ ...row, state: 'ready', updatedAt: clock.now() })
}
