import type { Clock, HoldfastStores, SandboxInstanceRecord } from '@holdfast/core'

export interface CondemnInput {
  stores: Pick<HoldfastStores, 'instances' | 'locks'>
  threadId: string
  runId: string
  clock: Clock
}

/** A build that goes on for longer holds its lock, and then the caller has to come back. */
const LOCK_WAIT_MS = 5_000

/**
 * Marks every sandbox that this run used last as one to be destroyed: from here on no run uses it, and whoever reclaims
 * next finds it, also after a crash. Repeatable. `LOCK_TIMEOUT` while somebody works on one.
 */
export async function condemnSandboxes(input: CondemnInput): Promise<void> {
  const { stores, runId, clock } = input
  for (const { key } of await sandboxesOfRun(input)) {
    await stores.locks.withLock(
      `sandbox:${key}`,
      async () => {
        const row = await stores.instances.get(key)
        if (row === null || row.latestRunId !== runId || row.state === 'condemned') return
        await stores.instances.upsert({ ...row, state: 'condemned', updatedAt: clock.now() })
      },
      { waitMs: LOCK_WAIT_MS },
    )
  }
}

/** The rows whose last user is this run. */
export async function sandboxesOfRun(input: Omit<CondemnInput, 'clock'>): Promise<SandboxInstanceRecord[]> {
  const { stores, threadId, runId } = input
  const found: SandboxInstanceRecord[] = []
  let cursor: string | undefined
  do {
    const page = await stores.instances.list?.({ threadId, ...(cursor === undefined ? {} : { cursor }) })
    found.push(...(page?.records ?? []).filter((row) => row.latestRunId === runId))
    cursor = page?.cursor
  } while (cursor !== undefined)
  return found
}
