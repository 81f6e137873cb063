'use client'

import { useCallback, useEffect, useState } from 'react'
import { messageOf } from './api.ts'
import { listArtifacts, listCheckpoints } from './checkpoints-api.ts'
import type { Artifact, CheckpointPage } from './checkpoints-api.ts'

interface Timeline extends CheckpointPage {
  artifacts: Artifact[]
}

export interface Checkpoints {
  /** Null until it is known. */
  timeline: Timeline | null
  problem: string | null
  refresh: () => Promise<void>
  /** Absent when all are shown. */
  showOlder?: () => Promise<void>
}

/** The thread's checkpoints and artifacts, read again when `version` changes; null says that there are none yet. */
export function useCheckpoints(threadId: string, version: string | null): Checkpoints {
  const [timeline, setTimeline] = useState<Timeline | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const attempt = useCallback(async (read: () => Promise<Timeline>): Promise<void> => {
    try {
      setTimeline(await read())
      setProblem(null)
    } catch (error) {
      setProblem(messageOf(error))
    }
  }, [])
  const refresh = useCallback(() => attempt(() => readTimeline(threadId)), [attempt, threadId])
  useEffect(() => {
    if (version !== null) void refresh()
  }, [version, refresh])
  const known = version === null ? { checkpoints: [], headId: null, artifacts: [] } : timeline
  const cursor = timeline?.cursor
  if (timeline === null || cursor === undefined) return { timeline: known, problem, refresh }
  const showOlder = (): Promise<void> =>
    attempt(async () => {
      const { artifacts, headId, checkpoints } = timeline
      const older = await listCheckpoints(threadId, cursor)
      return { ...older, artifacts, headId, checkpoints: [...checkpoints, ...older.checkpoints] }
    })
  return { timeline: known, problem, refresh, showOlder }
}

async function readTimeline(threadId: string): Promise<Timeline> {
  const [page, artifacts] = await Promise.all([listCheckpoints(threadId), listArtifacts(threadId)])
  return { ...page, artifacts }
}
