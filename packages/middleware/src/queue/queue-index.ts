import type { HoldfastStores } from '@holdfast/core'

/** Which threads have a queue, so that a reaper finds those whose hosts have all died. */
const NAMESPACE = 'holdfast-queues'
const KEY = 'threads'
const LOCK = 'holdfast-queues'

export async function listQueuedThreads({ metadata }: HoldfastStores): Promise<string[]> {
  return ((await metadata.get(NAMESPACE, KEY)) as string[] | null) ?? []
}

export function addQueuedThread(stores: HoldfastStores, threadId: string): Promise<void> {
  return change(stores, (threadIds) => (threadIds.includes(threadId) ? threadIds : [...threadIds, threadId]))
}

export function removeQueuedThread(stores: HoldfastStores, threadId: string): Promise<void> {
  return change(stores, (threadIds) => threadIds.filter((id) => id !== threadId))
}

async function change(stores: HoldfastStores, to: (threadIds: string[]) => string[]): Promise<void> {
  await stores.locks.withLock(LOCK, async () => {
    await stores.metadata.set(NAMESPACE, KEY, to(await listQueuedThreads(stores)))
  })
}
