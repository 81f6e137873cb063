import { fetchServerSentEvents } from '@tanstack/ai-react'
import { checked } from './api.ts'

type Connection = ReturnType<typeof fetchServerSentEvents>

export interface ConnectionEvents {
  /** The stored messages are here; `activeRunId` is a run that goes on and is joined next. */
  onHydrated: (activeRunId: string | null) => void
  onHydrateFailed: (error: unknown) => void
  /** A run's events are about to be given from the first one on, again. */
  onReplay: (runId: string) => void
  /** True while a stream that broke off is being picked up again. */
  onReconnecting: (isReconnecting: boolean) => void
}

/** How often a stream that broke off is picked up without getting anything: about 30 s, enough for a restart. */
const RECONNECT = { maxAttempts: 60, delayMs: 500 }

/** TanStack's connection, with its moments told. */
export function createChatConnection(events: ConnectionEvents): Connection {
  const fetchClient: typeof fetch = async (input, init) => {
    const isReconnect = new Headers(init?.headers).has('Last-Event-ID')
    if (isReconnect) events.onReconnecting(true)
    // A failure has to be thrown here: the client makes a text of its own from a response that is not a success.
    const response = await checked(await fetch(input, init))
    events.onReconnecting(false)
    return response
  }
  const base = fetchServerSentEvents('/api/chat', { fetchClient, reconnect: RECONNECT })
  return {
    ...base,
    async hydrate(threadId, options) {
      try {
        const result = await base.hydrate!(threadId, options)
        events.onHydrated(result.activeRun?.runId ?? null)
        return result
      } catch (error) {
        events.onHydrateFailed(error)
        throw error
      }
    },
    joinRun(runId, signal) {
      events.onReplay(runId)
      return base.joinRun(runId, signal)
    },
  }
}
