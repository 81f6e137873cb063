import { isHoldfastError } from '@holdfast/core'
import type { SandboxInstanceRecord, SandboxListing } from '@holdfast/core'
import { SANDBOX_LABEL } from '../definition/sandbox-labels.ts'
import { toRunError } from '../runs/run-error.ts'
import type { SweepOutcome, SweepReason } from './sweep-outcome.ts'
import type { SweepTarget } from './sweep-target.ts'

/** Where the first sight of a sandbox is noted whose service does not say when it was made. */
const SEEN_NAMESPACE = 'holdfast-sweep-seen'

/** Undefined when a row points at the sandbox. Rejects when its row cannot be read, and leaves the sandbox alone. */
export async function sweepListing(
  target: SweepTarget,
  listing: SandboxListing,
  options: { isTrusted: boolean },
): Promise<SweepOutcome | undefined> {
  const { sandboxId } = listing
  const key = listing.labels[SANDBOX_LABEL.key]
  if (key === undefined) return { sandboxId, reason: 'no-record', outcome: 'kept', because: 'no-key' }
  const reason = reasonFor(await target.stores.instances.get(key), sandboxId)
  if (reason === undefined) return undefined
  const found = { sandboxId, key, reason }
  if (!options.isTrusted) return { ...found, outcome: 'kept', because: 'store-empty' }
  const createdAt = listing.createdAt ?? (await firstSeenAt(target, sandboxId))
  if (createdAt === undefined) return { ...found, outcome: 'kept', because: 'seen-first' }
  if (target.now - createdAt < target.minAgeMs) return { ...found, outcome: 'kept', because: 'too-young' }
  if (target.dryRun) return { ...found, outcome: 'kept', because: 'dry-run' }
  return { ...found, ...(await destroyUnrecorded(target, key, sandboxId)) }
}

/** Undefined when the row means this sandbox, or may: while it is an intent, nobody knows yet which id it gets. */
function reasonFor(row: SandboxInstanceRecord | null, sandboxId: string): SweepReason | undefined {
  if (row === null) return 'no-record'
  return row.providerSandboxId === sandboxId || row.state === 'intent' ? undefined : 'replaced'
}

/** Looks once more under the lock of the key, so that no build can begin to use it meanwhile. */
async function destroyUnrecorded(
  target: SweepTarget,
  key: string,
  sandboxId: string,
): Promise<Pick<SweepOutcome, 'outcome' | 'because' | 'error'>> {
  try {
    return await target.withLock(key, async () => {
      if (reasonFor(await target.stores.instances.get(key), sandboxId) === undefined) {
        return { outcome: 'kept' as const, because: 'in-use' as const }
      }
      await target.destroy(sandboxId)
      await target.stores.metadata.delete(SEEN_NAMESPACE, sandboxId)
      return { outcome: 'destroyed' as const }
    })
  } catch (error) {
    if (isHoldfastError(error, 'LOCK_TIMEOUT')) return { outcome: 'kept', because: 'in-use' }
    return { outcome: 'failed', error: toRunError(error) }
  }
}

/** Undefined at the first sight, which is noted. */
async function firstSeenAt({ stores, now, dryRun }: SweepTarget, sandboxId: string): Promise<number | undefined> {
  const seenAt = await stores.metadata.get(SEEN_NAMESPACE, sandboxId)
  if (typeof seenAt === 'number') return seenAt
  if (!dryRun) await stores.metadata.set(SEEN_NAMESPACE, sandboxId, now)
  return undefined
}
