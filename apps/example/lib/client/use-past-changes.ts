'use client'

import type { StreamChunk } from '@tanstack/ai/client'
import { useEffect, useRef } from 'react'
import { apiErrorOf } from './api.ts'
import type { RunSummary } from './api.ts'
import { pastEvents } from './chat-connection.ts'

/** Reads once what the thread's last run changed, when it had ended before the page was opened. */
export function usePastChanges(record: RunSummary | null | undefined, onEvent: (chunk: StreamChunk) => void): void {
  const readRunId = useRef<string | null>(null)
  const runId = record == null || record.status === 'running' ? null : record.runId
  useEffect(() => {
    if (runId === null || readRunId.current !== null) return undefined
    const end = new AbortController()
    const read = async (): Promise<void> => {
      for await (const chunk of pastEvents(runId, end.signal)) onEvent(chunk)
      readRunId.current = runId
    }
    read().catch((error: unknown) => {
      // Old events may be gone; the files are still listed then, without their diffs.
      if (!end.signal.aborted && apiErrorOf(error) === undefined) console.warn('Past changes could not be read.', error)
    })
    return () => end.abort()
  }, [runId, onEvent])
}
