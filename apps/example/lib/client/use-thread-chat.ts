'use client'

import type { UIMessage } from '@tanstack/ai-react'
import { useCallback, useEffect, useState } from 'react'
import type { RefObject } from 'react'
import { ApiError, apiErrorOf, cancelRun, latestRun, messageOf } from './api.ts'
import type { RunSummary } from './api.ts'
import type { RunActivity } from './run-activity.ts'
import { runState } from './run-state.ts'
import type { RunState } from './run-state.ts'
import { announceThread } from './thread-signal.ts'
import { useChatLink } from './use-chat-link.ts'
import type { ChatLink } from './use-chat-link.ts'
import { useLatest } from './use-latest.ts'
import { usePastChanges } from './use-past-changes.ts'
import { useThreadRecord } from './use-thread-record.ts'

export interface ThreadChat {
  messages: UIMessage[]
  activity: RunActivity
  state: RunState
  /** The server knows the thread. */
  isStored: boolean
  /** Resolves to false when the server did not take the message. */
  send: (text: string) => Promise<boolean>
  stop: () => Promise<void>
}

export interface ThreadChatInput {
  threadId: string
  /** What the page showed before it attached anew, so that it never goes blank. */
  initialMessages: UIMessage[]
  /** How often the page has attached anew. */
  attempt: number
  /** Takes the last request that failed, for a person to read. */
  onProblem: (problem: string | null) => void
  /** Called, with what the page shows, when the thread has a run that this page does not follow. */
  onMissedRun: (shown: UIMessage[]) => void
}

/** One thread, live: its messages, what its run does, and one true sentence about it. */
export function useThreadChat(input: ThreadChatInput): ThreadChat {
  const { threadId, initialMessages, attempt, onProblem, onMissedRun: tellMissedRun } = input
  const link = useChatLink(threadId, initialMessages)
  const { chat, activity, hydration, isReconnecting, endedRunId } = link
  const { isLoading: isStreaming, runId, messages } = chat
  const [isStopping, setStopping] = useState(false)
  const shown = useLatest(messages)
  const onMissedRun = useCallback(() => tellMissedRun(shown.current), [tellMissedRun, shown])
  const record = useThreadRecord({
    threadId,
    hydration,
    isStreaming,
    streamedRunId: runId,
    endedRunId,
    attempt,
    onMissedRun,
  })
  const state = runState({ hydration, isStreaming, isReconnecting, isStopping, activity, record, endedRunId })

  useEffect(() => {
    if (!state.isActive) setStopping(false)
  }, [state.isActive])
  const hasBegun = isStreaming && activity.sandbox !== null
  useEffect(() => {
    if (!hasBegun) return undefined
    announceThread(threadId)
    return () => announceThread(threadId)
  }, [hasBegun, threadId])
  useEffect(() => {
    if (hydration.state === 'failed') onProblem(messageOf(hydration.error))
  }, [hydration, onProblem])

  usePastChanges(isStreaming || endedRunId !== null ? undefined : record, link.addPast)
  const send = useSend(link, shown, { onProblem, onMissedRun })
  const stop = async (): Promise<void> => {
    setStopping(true)
    onProblem(null)
    try {
      const known = runId ?? hydration.joiningRunId ?? activeRunId(record)
      const target = known ?? activeRunId(await latestRun(threadId))
      if (target !== null) await cancelRun(target)
    } catch (error) {
      setStopping(false)
      onProblem(messageOf(error))
    }
  }
  return { messages, activity, state, isStored: hydration.isStored, send, stop }
}

function activeRunId(record: RunSummary | null | undefined): string | null {
  return record?.status === 'running' ? record.runId : null
}

function useSend(
  link: ChatLink,
  shown: RefObject<UIMessage[]>,
  input: { onProblem: (problem: string | null) => void; onMissedRun: () => void },
): (text: string) => Promise<boolean> {
  const { chat, failure, begin } = link
  return async (text) => {
    const before = shown.current
    input.onProblem(null)
    begin()
    await chat.sendMessage(text)
    const failed = failure.current
    if (failed === null || isRunFailure(failed.error)) return true
    input.onProblem(messageOf(failed.error))
    if (failed.hadEvents) return true
    // Not taken as far as this page knows, so it is not shown as said; the composer gives the text back.
    chat.setMessages(before)
    const status = apiErrorOf(failed.error)?.status
    if (status === undefined || status === 409) input.onMissedRun()
    return false
  }
}

/** The run's own failure arrives as its last event, and is told by its state. */
function isRunFailure(error: unknown): boolean {
  return !(error instanceof ApiError) && error instanceof Error && error.name === 'Error' && error.cause === undefined
}
