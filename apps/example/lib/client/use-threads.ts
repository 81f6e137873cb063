'use client'

import { useCallback, useEffect, useState } from 'react'
import { listThreads, messageOf } from './api.ts'
import type { ThreadSummary } from './api.ts'
import { onThreadSignal } from './thread-signal.ts'

/** A signal comes with the send; the thread is stored a moment later. */
const STORED_AFTER_MS = 400

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
    let timer: ReturnType<typeof setTimeout> | undefined
    const onChange = (): void => {
      void refresh()
      clearTimeout(timer)
      timer = setTimeout(() => void refresh(), STORED_AFTER_MS)
    }
    const onFocus = (): void => void (document.hidden ? undefined : refresh())
    void refresh()
    const endSignals = onThreadSignal(onChange)
    document.addEventListener('visibilitychange', onFocus)
    return () => {
      clearTimeout(timer)
      endSignals()
      document.removeEventListener('visibilitychange', onFocus)
    }
  }, [refresh])
  return { threads, problem, refresh }
}
