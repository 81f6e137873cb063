import { UnsupportedError } from '@holdfast/core'
import type { HoldfastStores, SandboxCheckpoint } from '@holdfast/core'
import { ownerIdOf } from '../../runs/tenant.ts'
import type { Tenant } from '../../runs/tenant.ts'
import { CheckpointWriter } from '../checkpoint-writer.ts'
import { newCheckpointId } from '../run/checkpoint-id.ts'
import type { CheckpointScope } from '../save-checkpoint.ts'
import { noteNewHead } from './follow-head.ts'
import { holdThread } from './hold-thread.ts'

export interface ForkInput {
  stores: HoldfastStores
  scope: CheckpointScope
  source: SandboxCheckpoint
  destinationThreadId: string
  tenant: Tenant
  title?: string | undefined
}

/**
 * Begins a new thread where a checkpoint is: its files, its conversation, its artifacts. The source is not changed. A crash
 * before the new thread's head leaves it empty; after that, whoever settles the thread completes the rest.
 * `SANDBOX_SNAPSHOT_FORK_UNAVAILABLE`, and the codes of `forkFromCheckpoint`.
 */
export async function forkThread(input: ForkInput): Promise<SandboxCheckpoint> {
  const { stores, scope, source, destinationThreadId, tenant, title } = input
  const { clock, redactor } = scope
  const fork = stores.checkpoints.forkFromCheckpoint?.bind(stores.checkpoints)
  if (fork === undefined) throw new UnsupportedError('SANDBOX_SNAPSHOT_FORK_UNAVAILABLE', 'This store cannot fork.')
  const ownerId = ownerIdOf(tenant)
  await stores.threads.ensure({ threadId: destinationThreadId, ownerId, ...(title === undefined ? {} : { title }) })
  const hold = { stores, threadId: destinationThreadId, tenant, clock, redactor, purpose: 'fork' as const }
  return holdThread(hold, async ({ fence }) => {
    const writer = await CheckpointWriter.open({ stores, threadId: destinationThreadId, clock, fence })
    try {
      const destinationCheckpointId = newCheckpointId()
      await noteNewHead(stores, destinationThreadId, destinationCheckpointId)
      const forked = await fork({
        sourceThreadId: source.threadId,
        sourceCheckpointId: source.id,
        destinationThreadId,
        destinationCheckpointId,
        createdAt: clock.now(),
        writer: writer.lease,
      })
      return forked.checkpoint
    } finally {
      await writer.close()
    }
  })
}
