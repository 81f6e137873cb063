import { NotFoundError } from '@holdfast/core'
import type { HoldfastStores, SandboxCheckpoint } from '@holdfast/core'
import { ownerIdOf } from '../../runs/tenant.ts'
import type { Tenant } from '../../runs/tenant.ts'
import { findHead } from '../save-checkpoint.ts'

/** `THREAD_NOT_FOUND` for a thread that is missing or somebody else's. */
export async function assertOwnThread(stores: HoldfastStores, threadId: string, tenant: Tenant): Promise<void> {
  const thread = await stores.threads.find(threadId, ownerIdOf(tenant))
  if (thread !== null) return
  throw new NotFoundError('THREAD_NOT_FOUND', `No thread ${threadId}.`, { details: { threadId } })
}

/** The head when no id is given. `SANDBOX_SNAPSHOT_CHECKPOINT_NOT_FOUND` for one that is missing or another thread's. */
export async function findCheckpoint(
  stores: Pick<HoldfastStores, 'checkpoints'>,
  threadId: string,
  checkpointId?: string,
): Promise<SandboxCheckpoint> {
  const found =
    checkpointId === undefined ? await findHead(stores, threadId) : await stores.checkpoints.get(checkpointId)
  if (found?.threadId === threadId) return found
  const what = checkpointId === undefined ? `Thread ${threadId} has no checkpoint` : `No checkpoint ${checkpointId}`
  throw new NotFoundError('SANDBOX_SNAPSHOT_CHECKPOINT_NOT_FOUND', `${what}.`)
}
