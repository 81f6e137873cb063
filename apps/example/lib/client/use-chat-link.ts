'use client'

import { useChat } from '@tanstack/ai-react'
import type { UIMessage } from '@tanstack/ai-react'
import { useEffect, useMemo, useReducer, useRef, useState } from 'react'
import type { RefObject } from 'react'
import { createChatConnection } from './chat-connection.ts'
import { NO_ACTIVITY, runActivity } from './run-activity.ts'
import type { RunActivity } from './run-activity.ts'

/** What became of the request that is, or was, under way. */
export interface LinkFailure {
  error: unknown
  /** Events had come before, so the run exists. */
  hadEvents: boolean
}

export interface ChatLink {
  chat: ReturnType<typeof useChat>
  activity: RunActivity
  hydration: 'pending' | 'ready' | 'failed'
  hydrationError: unknown
  /** The server knows the thread. */
  isStored: boolean
  joiningRunId: string | null
  isReconnecting: boolean
  /** The run whose last event is here. */
  endedRunId: string | null
  /** Set by a request or stream that failed; a run that failed is part of `activity`. */
  failure: RefObject<LinkFailure | null>
  /** Forgets the run before. Call it before a send. */
  begin: () => void
}

/** TanStack's chat for a thread, with what its stream and connection tell beside the messages. */
export function useChatLink(threadId: string, initialMessages: UIMessage[]): ChatLink {
  const [activity, dispatch] = useReducer(runActivity, NO_ACTIVITY)
  const [hydration, setHydration] = useState<ChatLink['hydration']>('pending')
  const [hydrationError, setHydrationError] = useState<unknown>(null)
  const [isStored, setStored] = useState(false)
  const [joiningRunId, setJoiningRunId] = useState<string | null>(null)
  const [isReconnecting, setReconnecting] = useState(false)
  const failure = useRef<LinkFailure | null>(null)
  const hadEvents = useRef(false)

  const connection = useMemo(
    () =>
      createChatConnection({
        onHydrated: ({ isStored: isThere, activeRunId }) => {
          setHydration('ready')
          setStored(isThere)
          setJoiningRunId(activeRunId)
        },
        onHydrateFailed: (error) => {
          setHydration('failed')
          setHydrationError(error)
        },
        onReplay: () => dispatch({ type: 'replay' }),
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
  const isStreaming = chat.isLoading
  useEffect(() => {
    if (isStreaming) {
      setJoiningRunId(null)
      setStored(true)
    } else setReconnecting(false)
  }, [isStreaming])

  const begin = (): void => {
    hadEvents.current = false
    failure.current = null
    dispatch({ type: 'begin' })
  }
  const endedRunId = useEndedRun(chat.isLoading, chat.runId, activity)
  return {
    chat,
    activity,
    hydration,
    hydrationError,
    isStored,
    joiningRunId,
    isReconnecting,
    endedRunId,
    failure,
    begin,
  }
}

/** A stream that stops without a last event says nothing about its run. */
function useEndedRun(isStreaming: boolean, runId: string | null, activity: RunActivity): string | null {
  const streamed = useRef<string | null>(null)
  if (isStreaming && runId !== null) streamed.current = runId
  return !isStreaming && activity.end !== null ? streamed.current : null
}
