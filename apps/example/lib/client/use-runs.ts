'use client'

import { useEffect, useState } from 'react'
import { listRuns, messageOf } from './api.ts'
import type { RunSummary } from './api.ts'

const EVERY_MS = 5_000

/** All runs, read again now and then while the page is looked at. */
export function useRuns(): { runs: RunSummary[] | null; problem: string | null } {
  const [runs, setRuns] = useState<RunSummary[] | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    const read = async (): Promise<void> => {
      if (document.hidden) return
      try {
        setRuns(await listRuns())
        setProblem(null)
      } catch (error) {
        setProblem(messageOf(error))
      }
    }
    void read()
    const timer = setInterval(() => void read(), EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  return { runs, problem }
}
