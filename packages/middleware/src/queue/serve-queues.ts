import type { Clock, HoldfastStores } from '@holdfast/core'
import type { RunDriver } from '../runs/run-driver.ts'
import { removeQueuedThread, listQueuedThreads } from './queue-index.ts'
import { queueServerOf } from './queue-registry.ts'
import { ThreadQueue } from './thread-queue.ts'

/** From now on this process starts what waits in any queue and has no living host. Answers how many queues there are. */
export async function serveQueues(input: { stores: HoldfastStores; driver: RunDriver; clock: Clock }): Promise<number> {
  const { stores, driver, clock } = input
  const threadIds = await listQueuedThreads(stores)
  for (const threadId of threadIds) {
    const entries = await new ThreadQueue(stores, threadId, clock).entries()
    if (entries.length > 0) queueServerOf(stores, threadId, clock).serve(driver)
    else await removeEmpty(stores, threadId, clock)
  }
  return threadIds.length
}

/** A crash between the two writes left it. Under the queue's lock, so that no send comes in between. */
async function removeEmpty(stores: HoldfastStores, threadId: string, clock: Clock): Promise<void> {
  await stores.locks.withLock(`queue:${threadId}`, async () => {
    const entries = await new ThreadQueue(stores, threadId, clock).entries()
    if (entries.length === 0) await removeQueuedThread(stores, threadId)
  })
}
