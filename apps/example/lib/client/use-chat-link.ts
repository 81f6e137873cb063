'use client'

import { useChat } from '@tanstack/ai-react'
import type { UIMessage } from '@tanstack/ai-react'
import { useCallback, useEffect, useMemo, useReducer, useRef, useState } from 'react'
import type { RefObject } from 'react'
import type { StreamChunk } from '@tanstack/ai/client'
import { ApiError } from './api.ts'
import { createChatConnection } from './chat-connection.ts'
import { NO_ACTIVITY, runActivity } from './run-activity.ts'
import type { RunActivity } from './run-activity.ts'

/** What the server said about the thread when the page attached to it. */
export interface Hydration {
  state: 'pending' | 'ready' | 'failed'
  error?: unknown
  /** The server knows the thread. */
  isStored: boolean
  /** A run that goes on and is not joined yet. */
  joiningRunId: string | null
  /** It is not joined because other tabs hold all streams. */
  isCrowded?: boolean
}

/** What became of the request that is, or was, under way. */
export interface LinkFailure {
  error: unknown
  /** Events had come before, so the run exists. */
  hadEvents: boolean
}

export interface ChatLink {
  chat: ReturnType<typeof useChat>
  activity: RunActivity
  hydration: Hydration
  isReconnecting: boolean
  /** The run whose last event is here. */
  endedRunId: string | null
  /** Set by a request or stream that failed; a run that failed is part of `activity`. */
  failure: RefObject<LinkFailure | null>
  /** Forgets the run before. Call it before a send. */
  begin: () => void
  /** Takes an event of a run that had ended before. */
  addPast: (chunk: StreamChunk) => void
}

/** TanStack's chat for a thread, with what its stream and connection tell beside the messages. */
export function useChatLink(threadId: string, initialMessages: UIMessage[]): ChatLink {
  const [activity, dispatch] = useReducer(runActivity, NO_ACTIVITY)
  const [hydration, setHydration] = useState<Hydration>({ state: 'pending', isStored: false, joiningRunId: null })
  const [isReconnecting, setReconnecting] = useState(false)
  const failure = useRef<LinkFailure | null>(null)
  const hadEvents = useRef(false)
  const joinedRunId = useRef<string | null>(null)
  const connection = useMemo(
    () =>
      createChatConnection({
        onHydrated: ({ isStored, activeRunId }) => {
          // StrictMode hydrates twice, and the second answer may come when the first one's run is joined already.
          const joiningRunId = activeRunId === joinedRunId.current ? null : activeRunId
          setHydration({ state: 'ready', isStored, joiningRunId })
        },
        onHydrateFailed: (error) => setHydration({ state: 'failed', error, isStored: true, joiningRunId: null }),
        onReplay: (joined) => {
          joinedRunId.current = joined
          dispatch({ type: 'replay' })
        },
        onCrowded: () => setHydration((known) => ({ ...known, isCrowded: true })),
        onReconnecting: setReconnecting,
      }),
    [],
  )
  const chat = useChat({
    threadId,
    connection,
    initialMessages,
    persistence: true,
    queue: 'drop',
    onChunk: (chunk) => {
      hadEvents.current = true
      dispatch({ type: 'chunk', chunk })
    },
    onError: (error) => {
      failure.current = { error, hadEvents: hadEvents.current }
    },
  })
  const { isLoading: isStreaming, runId } = chat
  useEffect(() => {
    if (isStreaming) setHydration((known) => ({ ...known, isStored: true, joiningRunId: null }))
    else setReconnecting(false)
  }, [isStreaming])
  const begin = (): void => {
    hadEvents.current = false
    failure.current = null
    dispatch({ type: 'begin' })
  }
  const addPast = useCallback((chunk: StreamChunk) => dispatch({ type: 'past', chunk }), [])
  const endedRunId = useEndedRun(isStreaming, runId, activity)
  return { chat, activity, hydration, isReconnecting, endedRunId, failure, begin, addPast }
}

/** A stream that stops without a last event says nothing about its run. */
function useEndedRun(isStreaming: boolean, runId: string | null, activity: RunActivity): string | null {
  const [streamed, setStreamed] = useState<string | null>(null)
  if (isStreaming && runId !== null && runId !== streamed) setStreamed(runId)
  return !isStreaming && activity.end !== null ? streamed : null
}

/** The run's own failure arrives as its last event, and is told by its state. */
export function isRunFailure(error: unknown): boolean {
  return !(error instanceof ApiError) && error instanceof Error && error.name === 'Error' && error.cause === undefined
}
