'use client'

import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { apiErrorOf, messageOf } from './api.ts'
import { approvalOf } from './approvals.ts'
import type { Approval, Approvals } from './approvals.ts'
import { isRunFailure } from './use-chat-link.ts'
import type { ChatLink } from './use-chat-link.ts'
import { useLatest } from './use-latest.ts'

type Pause = ChatLink['chat']['interrupts'][number]

interface Asked {
  pause: Pause
  approval: Approval
}

export interface ApprovalsInput {
  onProblem: (problem: string | null) => void
  /** Called when the thread went on without this page. */
  onMissedRun: () => void
}

/** What the page's pauses ask, and how a person answers. TanStack's client sends the answers of one turn together. */
export function useApprovals(link: ChatLink, input: ApprovalsInput): Approvals {
  const { chat, activity } = link
  const { interrupts, resuming } = chat
  const [decisions, setDecisions] = useState<ReadonlyMap<string, boolean>>(new Map())
  const asked = useMemo(() => interrupts.flatMap(askedBy), [interrupts])
  // The client forgets what it sends; it stays shown until the run that goes on has said something.
  const sent = useRef<readonly Asked[]>([])
  const isSending = resuming && activity.sandbox === null
  const shown = isSending && asked.length === 0 ? sent.current : asked
  useSendFailure(link, input, () => setDecisions(new Map()))

  const latest = useLatest({ asked, link, input })
  const decide = useCallback(
    (callId: string, isApproved: boolean): void => {
      const now = latest.current
      const pause = now.asked.find(({ approval }) => approval.callId === callId)?.pause
      if (pause === undefined || !('resolveInterrupt' in pause)) return
      sent.current = now.asked
      setDecisions((known) => new Map(known).set(callId, isApproved))
      now.input.onProblem(null)
      now.link.begin()
      pause.resolveInterrupt({ approved: isApproved } as never)
    },
    [latest],
  )
  return useMemo(() => {
    const entries = shown.map(({ approval }): [string, Approval] => {
      const decision = decisions.get(approval.callId)
      return [approval.callId, decision === undefined ? approval : { ...approval, decision }]
    })
    return { byCall: new Map(entries), isSending, decide }
  }, [shown, decisions, isSending, decide])
}

function askedBy(pause: Pause): Asked[] {
  const approval = approvalOf(pause as { metadata?: Record<string, unknown> })
  return approval === undefined ? [] : [{ pause, approval }]
}

/** Tells why an answer was not taken. What is still asked can be answered again. */
function useSendFailure(link: ChatLink, input: ApprovalsInput, onFailed: () => void): void {
  const { chat, failure } = link
  const wasResuming = useRef(false)
  const latest = useLatest({ input, onFailed })
  useEffect(() => {
    const hasEnded = wasResuming.current && !chat.resuming
    wasResuming.current = chat.resuming
    const failed = failure.current
    if (!hasEnded || failed === null || isRunFailure(failed.error)) return
    latest.current.input.onProblem(messageOf(failed.error))
    if (failed.hadEvents) return
    latest.current.onFailed()
    // Somebody else has decided, or a run goes on: what the page shows is not true any more.
    if (apiErrorOf(failed.error)?.status === 409) latest.current.input.onMissedRun()
  }, [chat.resuming, failure, latest])
}
