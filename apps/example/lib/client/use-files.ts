'use client'

import { useCallback, useEffect, useState } from 'react'
import { listFiles, messageOf } from './api.ts'
import type { FileEntry } from './api.ts'

/** A run that writes many files is followed at this pace. */
const SETTLE_MS = 500

export interface Files {
  /** Null until they are known. */
  files: FileEntry[] | null
  isTruncated: boolean
  problem: string | null
  refresh: () => Promise<void>
}

/** The workspace's listing, read again after `version` changed; null says that there is none yet. */
export function useFiles(threadId: string, version: string | null): Files {
  const [listing, setListing] = useState<{ files: FileEntry[]; truncated: boolean } | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const refresh = useCallback(async () => {
    try {
      setListing(await listFiles(threadId))
      setProblem(null)
    } catch (error) {
      setProblem(messageOf(error))
    }
  }, [threadId])
  useEffect(() => {
    if (version === null) return undefined
    const timer = setTimeout(() => void refresh(), SETTLE_MS)
    return () => clearTimeout(timer)
  }, [version, refresh])
  const files = version === null ? [] : (listing?.files ?? null)
  return { files, isTruncated: listing?.truncated ?? false, problem, refresh }
}
