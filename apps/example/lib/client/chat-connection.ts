import { fetchServerSentEvents } from '@tanstack/ai-react'
import type { StreamChunk } from '@tanstack/ai/client'
import { checked } from './api.ts'
import { takeStreamSlot } from './stream-slot.ts'

type Connection = ReturnType<typeof fetchServerSentEvents>

export interface HydratedThread {
  /** False for a thread that nobody has written to. */
  isStored: boolean
  /** A run that goes on; it is joined next. */
  activeRunId: string | null
}

export interface ConnectionEvents {
  onHydrated: (thread: HydratedThread) => void
  onHydrateFailed: (error: unknown) => void
  /** A run's events are about to be given from the first one on, again. */
  onReplay: (runId: string) => void
  /** A run is not joined, because other tabs hold all the streams that a browser may have. */
  onCrowded: () => void
  /** True while a stream that broke off is being picked up again. */
  onReconnecting: (isReconnecting: boolean) => void
}

/** How often a stream that broke off is picked up without getting anything: about 30 s, enough for a restart. */
const RECONNECT = { maxAttempts: 60, delayMs: 500 }

/** The events of a run that has ended, as far as they are still kept. */
export async function* pastEvents(runId: string, signal: AbortSignal): AsyncGenerator<StreamChunk> {
  const fetchClient: typeof fetch = async (input, init) => checked(await fetch(input, init))
  yield* fetchServerSentEvents('/api/chat', { fetchClient }).joinRun(runId, signal) as AsyncIterable<StreamChunk>
}

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
        const activeRunId = result.activeRun?.runId ?? null
        events.onHydrated({ isStored: result.messages.length > 0 || activeRunId !== null, activeRunId })
        return result
      } catch (error) {
        events.onHydrateFailed(error)
        throw error
      }
    },
    async *joinRun(runId, signal) {
      const release = await takeStreamSlot()
      if (release === null) {
        events.onCrowded()
        throw new Error('Other tabs hold all the streams that this browser may have.')
      }
      try {
        events.onReplay(runId)
        yield* base.joinRun(runId, signal)
      } finally {
        release()
      }
    },
  }
}
