import type { HoldfastStores } from '@holdfast/core'
import { stopQueues } from '../queue/queue-registry.ts'
import { listSessions } from './session-registry.ts'

/** Longest that a clean shutdown waits for its runs to be let go. */
const DEFAULT_STOP_TIMEOUT_MS = 10_000

/**
 * Lets go of every run of this process for a clean shutdown: records stay `running` with `detachedSince`, logs stay open,
 * sandboxes stay, queued sends keep their place, leases end at once so that another host may continue without waiting. Answers how many runs did not let
 * go in time. Repeatable.
 */
export async function stopRuns(stores: HoldfastStores, options: { timeoutMs?: number } = {}): Promise<number> {
  await stopQueues(stores)
  const sessions = listSessions(stores)
  for (const session of sessions) session.stop('host-stop')
  const all = Promise.all(sessions.map((session) => session.ended))
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, options.timeoutMs ?? DEFAULT_STOP_TIMEOUT_MS)
  })
  await Promise.race([all, timeout])
  clearTimeout(timer)
  return listSessions(stores).length
}
