'use client'

import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { messageOf } from '../../lib/client/api.ts'
import { forkThread, rewindThread } from '../../lib/client/checkpoints-api.ts'
import type { CheckpointSummary } from '../../lib/client/checkpoints-api.ts'
import { announceThread } from '../../lib/client/thread-signal.ts'
import { useCheckpoints } from '../../lib/client/use-checkpoints.ts'
import { ArtifactList } from './artifact-list.tsx'
import { CheckpointTimeline } from './checkpoint-timeline.tsx'
import styles from './checkpoints-panel.module.css'
import { CompareView } from './compare-view.tsx'
import { SaveForm } from './save-form.tsx'

interface CheckpointsPanelProps {
  threadId: string
  isStored: boolean
  /** The timeline is read again when it changes. */
  version: string
  /** The conversation is another one now. */
  onRewound: () => void
}

/** The states that the thread can go back to, branch off from and be compared in. */
export function CheckpointsPanel({ threadId, isStored, version, onRewound }: CheckpointsPanelProps) {
  const router = useRouter()
  const { timeline, problem, refresh, showOlder } = useCheckpoints(threadId, isStored ? version : null)
  const [compared, setCompared] = useState<{ from: CheckpointSummary; to: CheckpointSummary } | null>(null)
  const [refusal, setRefusal] = useState<string | null>(null)
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setRefusal(null)
    await work().catch((error: unknown) => setRefusal(messageOf(error)))
  }
  const rewind = async (checkpointId: string): Promise<void> => {
    await rewindThread(threadId, checkpointId)
    announceThread(threadId)
    onRewound()
  }
  const fork = async (checkpointId: string): Promise<void> => {
    const forkId = await forkThread(threadId, checkpointId)
    announceThread(forkId)
    router.push(`/t/${encodeURIComponent(forkId)}`)
  }
  if (compared !== null) return <CompareView threadId={threadId} {...compared} onClose={() => setCompared(null)} />
  return (
    <div className={styles.panel}>
      <SaveForm threadId={threadId} isDisabled={!isStored} onSaved={refresh} onProblem={setRefusal} />
      <Problem text={refusal} />
      <Problem text={problem} onRetry={() => void refresh()} />
      {timeline === null && problem === null && <p className={styles.note}>Loading checkpoints…</p>}
      {timeline?.checkpoints.length === 0 && (
        <p className={styles.note}>No checkpoints yet. One is saved at the end of each run.</p>
      )}
      <CheckpointTimeline
        checkpoints={timeline?.checkpoints ?? []}
        headId={timeline?.headId ?? null}
        onCompare={(from, to) => setCompared({ from, to })}
        onRewind={(id) => attempt(() => rewind(id))}
        onFork={(id) => attempt(() => fork(id))}
      />
      {showOlder !== undefined && (
        <button type="button" className={styles.older} onClick={() => void showOlder()}>
          Show older
        </button>
      )}
      <ArtifactList threadId={threadId} artifacts={timeline?.artifacts ?? []} />
    </div>
  )
}

function Problem({ text, onRetry }: { text: string | null; onRetry?: () => void }) {
  if (text === null) return null
  return (
    <p className={styles.problem} role="alert" data-testid="checkpoint-problem">
      {text}{' '}
      {onRetry !== undefined && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </p>
  )
}
