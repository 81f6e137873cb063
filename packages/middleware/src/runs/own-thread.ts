import { NotFoundError } from '@holdfast/core'
import type { HoldfastStores, ThreadRecord } from '@holdfast/core'
import { ownerIdOf } from './tenant.ts'
import type { Tenant } from './tenant.ts'

/** Null for a thread that does not exist yet; `THREAD_NOT_FOUND` for one of somebody else. */
export async function findOwnThread(
  stores: HoldfastStores,
  threadId: string,
  tenant: Tenant,
): Promise<ThreadRecord | null> {
  const thread = await stores.threads.find(threadId)
  if (thread === null || thread.ownerId === ownerIdOf(tenant)) return thread
  throw new NotFoundError('THREAD_NOT_FOUND', `No thread ${threadId}.`, { details: { threadId } })
}
