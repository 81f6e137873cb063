import type { SecondHost } from './crash-round.ts'

const THREAD_LABEL = 'holdfast.thread'

/** The label by which the service knows the thread; a name of nobody when there is no row of a sandbox. */
export async function labelOf({ stores }: SecondHost, threadId: string): Promise<string> {
  const { records = [] } = (await stores.instances.list?.({ threadId })) ?? {}
  return records[0]?.labels?.[THREAD_LABEL] ?? 'none'
}

/** The sandboxes that the service has of a thread. */
export async function sandboxesWith({ provider }: SecondHost, label: string): Promise<string[]> {
  const listed = (await provider.list?.({ labels: { [THREAD_LABEL]: label } })) ?? []
  return listed.map(({ sandboxId }) => sandboxId)
}
