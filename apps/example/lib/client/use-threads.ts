'use client'

import { useCallback, useEffect, useState } from 'react'
import { listThreads, messageOf } from './api.ts'
import type { ThreadSummary } from './api.ts'
import { onThreadSignal } from './thread-signal.ts'

export interface Threads {
  /** Null until they are known. */
  threads: ThreadSummary[] | null
  problem: string | null
  refresh: () => Promise<void>
}

/** All threads, read again when one of them changes here or in another tab. */
export function useThreads(): Threads {
  const [threads, setThreads] = useState<ThreadSummary[] | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const refresh = useCallback(async () => {
    try {
      setThreads(await listThreads())
      setProblem(null)
    } catch (error) {
      setProblem(messageOf(error))
    }
  }, [])
  useEffect(() => {
    const onFocus = (): void => void (document.hidden ? undefined : refresh())
    void refresh()
    const endSignals = onThreadSignal(() => void refresh())
    document.addEventListener('visibilitychange', onFocus)
    return () => {
      endSignals()
      document.removeEventListener('visibilitychange', onFocus)
    }
  }, [refresh])
  return { threads, problem, refresh }
}
