'use client'

import { useCallback, useEffect, useRef, useState } from 'react'
import { latestRun } from './api.ts'
import type { RunSummary } from './api.ts'
import { onThreadSignal } from './thread-signal.ts'

/** While a run goes on that this page does not stream. */
const ACTIVE_POLL_MS = 2_000
/** Otherwise, for runs that another device starts. */
const IDLE_POLL_MS = 30_000
/** Time for a join that is under way to begin; doubled with each attempt that led to nothing. */
const MISSED_AFTER_MS = 1_500
const MAX_MISSED_AFTER_MS = 15_000

export interface ThreadRecordInput {
  threadId: string
  isStreaming: boolean
  hydration: 'pending' | 'ready' | 'failed'
  /** False for a thread that nobody has written to; there is nothing to ask for then. */
  isStored: boolean
  /** The run that the stream gives or gave. */
  streamedRunId: string | null
  /** The run whose last event this page has seen; its record follows by a moment. */
  endedRunId: string | null
  /** How often this page has attached anew. */
  attempt: number
  onMissedRun: () => void
}

/** The thread's latest run as the server has it; asked for only while no stream tells the same. */
export function useThreadRecord(input: ThreadRecordInput): RunSummary | null | undefined {
  const { threadId, isStreaming, hydration, isStored, streamedRunId, endedRunId, attempt, onMissedRun } = input
  const [record, setRecord] = useState<RunSummary | null>()
  const canAsk = hydration === 'failed' || (hydration === 'ready' && isStored)
  const known = useRef<string | null>(null)
  if (streamedRunId !== null) known.current = streamedRunId

  const refresh = useCallback(async () => {
    try {
      setRecord(await latestRun(threadId))
    } catch (error) {
      // What was known stays shown; a server that cannot be reached is reported by the hydration and by sends.
      console.warn('The state of the run could not be read.', error)
    }
  }, [threadId])

  useEffect(() => {
    if (isStreaming || !canAsk) return undefined
    void refresh()
    const onFocus = (): void => {
      if (!document.hidden) void refresh()
    }
    document.addEventListener('visibilitychange', onFocus)
    const endSignals = onThreadSignal((changed, isElsewhere) => {
      if (changed === threadId && isElsewhere) void refresh()
    })
    return () => {
      document.removeEventListener('visibilitychange', onFocus)
      endSignals()
    }
  }, [isStreaming, canAsk, threadId, refresh])

  const isActive = record?.status === 'running'
  useEffect(() => {
    if (isStreaming || !canAsk) return undefined
    const timer = setInterval(
      () => {
        if (isActive || !document.hidden) void refresh()
      },
      isActive ? ACTIVE_POLL_MS : IDLE_POLL_MS,
    )
    return () => clearInterval(timer)
  }, [isStreaming, canAsk, isActive, refresh])

  useEffect(() => {
    if (isStreaming || record == null) return undefined
    const isFirst = known.current === null
    const isNew = known.current !== record.runId
    if (isFirst || !isNew) known.current = record.runId
    const isMissed = isActive ? record.runId !== endedRunId : isNew && !isFirst
    if (!isMissed) return undefined
    const timer = setTimeout(onMissedRun, Math.min(MISSED_AFTER_MS * 2 ** attempt, MAX_MISSED_AFTER_MS))
    return () => clearTimeout(timer)
  }, [isStreaming, record, isActive, endedRunId, attempt, onMissedRun])

  return hydration === 'ready' && !isStored ? null : record
}
