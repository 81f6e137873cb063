import type { Clock, HoldfastStores } from '@holdfast/core'
import { QueueServer } from './queue-server.ts'

const REGISTRIES = Symbol.for('@holdfast/middleware/queues')
const holder = globalThis as { [REGISTRIES]?: WeakMap<HoldfastStores, Map<string, QueueServer>> }

/** Global for the same reason as the sessions: a bundler may load this module more than once. */
const registries = (holder[REGISTRIES] ??= new WeakMap())

/** The one server of a thread's queue in this process. It is forgotten when nothing waits. */
export function queueServerOf(stores: HoldfastStores, threadId: string, clock: Clock): QueueServer {
  let servers = registries.get(stores)
  if (servers === undefined) registries.set(stores, (servers = new Map()))
  const known = servers.get(threadId)
  if (known !== undefined) return known
  const all = servers
  const server = new QueueServer(stores, threadId, clock, () => {
    if (all.get(threadId) === server) all.delete(threadId)
  })
  all.set(threadId, server)
  return server
}

/** Leaves everything that waits in this process to other hosts: at once, or when they miss this one. Never rejects. */
export async function stopQueues(stores: HoldfastStores): Promise<void> {
  await Promise.allSettled([...(registries.get(stores)?.values() ?? [])].map((server) => server.stop()))
}
