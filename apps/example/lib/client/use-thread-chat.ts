'use client'

import type { UIMessage } from '@tanstack/ai-react'
import { useCallback, useEffect, useState } from 'react'
import type { RefObject } from 'react'
import { apiErrorOf, cancelRun, latestRun, messageOf } from './api.ts'
import type { RunSummary } from './api.ts'
import type { Approvals } from './approvals.ts'
import type { RunActivity } from './run-activity.ts'
import { runState } from './run-state.ts'
import type { RunState } from './run-state.ts'
import { announceThread } from './thread-signal.ts'
import { useApprovals } from './use-approvals.ts'
import { isRunFailure, useChatLink } from './use-chat-link.ts'
import type { ChatLink } from './use-chat-link.ts'
import { useLatest } from './use-latest.ts'
import { usePastChanges } from './use-past-changes.ts'
import { useThreadRecord } from './use-thread-record.ts'

export interface ThreadChat {
  messages: UIMessage[]
  activity: RunActivity
  state: RunState
  /** What a person is asked. */
  approvals: Approvals
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
  const waitingRunId = chat.interrupts[0]?.interruptedRunId ?? null
  const [isStopping, setStopping] = useState(false)
  const shown = useLatest(messages)
  const onMissedRun = useCallback(() => tellMissedRun(shown.current), [tellMissedRun, shown])
  const record = useThreadRecord({
    threadId,
    hydration,
    isStreaming,
    streamedRunId: runId,
    endedRunId,
    waitingRunId,
    attempt,
    onMissedRun,
  })
  const state = runState({
    hydration,
    isStreaming,
    isReconnecting,
    isStopping,
    activity,
    record,
    endedRunId,
    waitingRunId,
  })
  const approvals = useApprovals(link, { onProblem, onMissedRun })

  useEffect(() => {
    if (!state.canStop) setStopping(false)
  }, [state.canStop])
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
  const runIds = { active: runId ?? hydration.joiningRunId ?? activeRunId(record), waiting: waitingRunId }
  const stop = useStop(threadId, runIds, { setStopping, onProblem, onMissedRun })
  return { messages, activity, state, approvals, isStored: hydration.isStored, send, stop }
}

function activeRunId(record: RunSummary | null | undefined): string | null {
  return record?.status === 'running' ? record.runId : null
}

function useStop(
  threadId: string,
  { active, waiting }: { active: string | null; waiting: string | null },
  input: Pick<ThreadChatInput, 'onProblem'> & { setStopping: (isStopping: boolean) => void; onMissedRun: () => void },
): () => Promise<void> {
  return async () => {
    input.setStopping(true)
    input.onProblem(null)
    try {
      const target = active ?? waiting ?? activeRunId(await latestRun(threadId))
      if (target === null) return
      await cancelRun(target)
      if (target !== waiting) return
      // Nothing streams that could tell the end of a run that waits, here or in another tab.
      announceThread(threadId)
      input.onMissedRun()
    } catch (error) {
      input.setStopping(false)
      input.onProblem(messageOf(error))
    }
  }
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
