'use client'

import { useCallback, useEffect, useRef, useState } from 'react'
import { latestRun } from './api.ts'
import type { RunSummary } from './api.ts'
import { onThreadSignal } from './thread-signal.ts'
import type { Hydration } from './use-chat-link.ts'

/** While a run goes on that this page does not stream, or a question may be answered elsewhere. */
const ACTIVE_POLL_MS = 2_000
/** Otherwise, for runs that another device starts. */
const IDLE_POLL_MS = 30_000
/** Time for a join that is under way to begin; doubled with each attempt that led to nothing. */
const MISSED_AFTER_MS = 1_500
const MAX_MISSED_AFTER_MS = 15_000
/** A checkpoint saved by hand holds the thread like a run, and changes nothing that is shown. */
const SAVE_PREFIX = 'checkpoint:save:'

export interface ThreadRecordInput {
  threadId: string
  hydration: Hydration
  isStreaming: boolean
  /** The run that the stream gives or gave. */
  streamedRunId: string | null
  /** The run whose last event this page has seen; its record follows by a moment. */
  endedRunId: string | null
  /** The run whose questions this page holds. */
  waitingRunId: string | null
  /** How often this page has attached anew. */
  attempt: number
  onMissedRun: () => void
}

/** The thread's latest run as the server has it; asked for only while no stream tells the same. */
export function useThreadRecord(input: ThreadRecordInput): RunSummary | null | undefined {
  const { threadId, hydration, isStreaming } = input
  // A thread that nobody has written to has no run to ask for.
  const canAsk = !isStreaming && hydration.state !== 'pending' && hydration.isStored
  const { record, refresh } = useRecord(threadId)
  const isActive = record?.status === 'running' || input.waitingRunId !== null

  useEffect(() => {
    if (!canAsk) return undefined
    void refresh()
    const onFocus = (): void => void (document.hidden ? undefined : refresh())
    document.addEventListener('visibilitychange', onFocus)
    return () => document.removeEventListener('visibilitychange', onFocus)
  }, [canAsk, refresh])
  useEffect(() => {
    if (isStreaming) return undefined
    return onThreadSignal((changed, isElsewhere) => {
      if (changed === threadId && isElsewhere) void refresh()
    })
  }, [isStreaming, threadId, refresh])
  useEffect(() => {
    if (!canAsk) return undefined
    const ask = (): void => void (isActive || !document.hidden ? refresh() : undefined)
    const timer = setInterval(ask, isActive ? ACTIVE_POLL_MS : IDLE_POLL_MS)
    return () => clearInterval(timer)
  }, [canAsk, isActive, refresh])
  useMissedRun(input, record)

  return hydration.state === 'ready' && !hydration.isStored ? (record ?? null) : record
}

function useRecord(threadId: string): { record: RunSummary | null | undefined; refresh: () => Promise<void> } {
  const [record, setRecord] = useState<RunSummary | null>()
  const refresh = useCallback(async () => {
    try {
      setRecord(await latestRun(threadId))
    } catch (error) {
      // What was known stays shown; a server that cannot be reached is reported by the hydration and by sends.
      console.warn('The state of the run could not be read.', error)
    }
  }, [threadId])
  return { record, refresh }
}

/** Notices a run that goes on, or has been, without this page. */
function useMissedRun(input: ThreadRecordInput, record: RunSummary | null | undefined): void {
  const { hydration, isStreaming, streamedRunId, endedRunId, waitingRunId, attempt, onMissedRun } = input
  const { isStored: wasStored, joiningRunId } = hydration
  const known = useRef<string | null>(null)
  const hasStreamed = useRef(false)
  useEffect(() => {
    if (streamedRunId !== null) known.current = streamedRunId
    if (isStreaming) hasStreamed.current = true
    if (isStreaming || record == null) return undefined
    // The first record is that of what the hydration gave, unless there was nothing yet.
    const isFirst = known.current === null && wasStored
    const isNew = known.current !== record.runId && !record.runId.startsWith(SAVE_PREFIX)
    if (isFirst) known.current = record.runId
    const isGoingOn = record.status === 'running'
    const isGivenUp = record.runId === waitingRunId && !isGoingOn && record.status !== 'interrupted'
    // Hydrated while it went on, so that the page has none of what it wrote.
    const isUnseen = record.runId === joiningRunId && !isGoingOn
    const isMissed = isGivenUp || isUnseen || (isGoingOn ? record.runId !== endedRunId : isNew && !isFirst)
    if (!isMissed) return undefined
    const inVain = hasStreamed.current || !isGoingOn ? 0 : attempt
    // No join can be under way of a run that is over, and nothing can be said while its question is held.
    const waitMs = isGivenUp || isUnseen ? 0 : Math.min(MISSED_AFTER_MS * 2 ** inVain, MAX_MISSED_AFTER_MS)
    const timer = setTimeout(onMissedRun, waitMs)
    return () => clearTimeout(timer)
  }, [wasStored, joiningRunId, isStreaming, record, streamedRunId, endedRunId, waitingRunId, attempt, onMissedRun])
}
