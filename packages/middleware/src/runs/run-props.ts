import type { HoldfastStores } from '@holdfast/core'

/** Where a run's `forwardedProps` wait for a host that has to continue it. */
const NAMESPACE = 'holdfast-run-props'

/** Stores nothing when there are none, which is the usual case. Repeatable. */
export async function saveRunProps(
  stores: HoldfastStores,
  runId: string,
  props: Record<string, unknown>,
): Promise<void> {
  if (Object.keys(props).length > 0) await stores.metadata.set(NAMESPACE, runId, props)
}

export async function loadRunProps(stores: HoldfastStores, runId: string): Promise<Record<string, unknown>> {
  const props = await stores.metadata.get(NAMESPACE, runId)
  return typeof props === 'object' && props !== null ? (props as Record<string, unknown>) : {}
}
