import type { HoldfastStores, InterruptRecord } from '@holdfast/core'
import { modelMessagesToUIMessages } from '@tanstack/ai'
import type { UIMessage } from '@tanstack/ai'
import { withoutRun } from './run-mark.ts'

/** What a client needs to paint a thread: TanStack's hydrate response. */
export interface ThreadHydration {
  messages: UIMessage[]
  activeRun: { runId: string } | null
  interrupts: { runId: string; pending: unknown[] } | null
}

/**
 * Reads the active run before the transcript, so that a run that ends in between is seen in one or the other. What the
 * active run itself wrote is left out: its events, replayed from the start, give that again, and once.
 */
export async function hydrateThread(stores: HoldfastStores, threadId: string): Promise<ThreadHydration> {
  const active = await stores.runs.findActiveRun(threadId)
  const [stored, pending] = await Promise.all([
    stores.messages.loadThread(threadId),
    stores.interrupts.listPending(threadId),
  ])
  const messages = active === null ? stored : withoutRun(stored, active.runId)
  return {
    messages: modelMessagesToUIMessages(messages),
    activeRun: active === null ? null : { runId: active.runId },
    interrupts: interruptsOf(pending),
  }
}

function interruptsOf(pending: readonly InterruptRecord[]): ThreadHydration['interrupts'] {
  const newest = pending.at(-1)
  if (newest === undefined) return null
  const ofRun = pending.filter((interrupt) => interrupt.runId === newest.runId)
  return { runId: newest.runId, pending: ofRun.map((interrupt) => interrupt.payload) }
}
