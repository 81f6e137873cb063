'use client'

import { useEffect, useState } from 'react'
import { messageOf } from '../../lib/client/api.ts'
import { compareCheckpoints } from '../../lib/client/checkpoints-api.ts'
import type { CheckpointDiff, CheckpointFileChange, CheckpointSummary } from '../../lib/client/checkpoints-api.ts'
import { DiffView } from '../diff-view.tsx'
import { takeFocus } from './take-focus.ts'
import { checkpointTitle, countOf } from './checkpoint-text.ts'
import styles from './compare-view.module.css'

interface CompareViewProps {
  threadId: string
  from: CheckpointSummary
  to: CheckpointSummary
  onClose: () => void
}

/** What changed from the older checkpoint to the newer one. */
export function CompareView({ threadId, from, to, onClose }: CompareViewProps) {
  const [diff, setDiff] = useState<CheckpointDiff | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    let isCurrent = true
    compareCheckpoints(threadId, from.id, to.id).then(
      (found) => {
        if (isCurrent) setDiff(found)
      },
      (error: unknown) => {
        if (isCurrent) setProblem(messageOf(error))
      },
    )
    return () => {
      isCurrent = false
    }
  }, [threadId, from.id, to.id])
  return (
    <section className={styles.view} aria-label="Comparison" data-testid="comparison">
      <header className={styles.head}>
        <button type="button" ref={takeFocus} onClick={onClose}>
          Back
        </button>
        <p>
          <Moment checkpoint={from} /> to <Moment checkpoint={to} />
        </p>
      </header>
      {problem !== null && (
        <p className={styles.note} role="alert">
          {problem}
        </p>
      )}
      {diff === null && problem === null && <p className={styles.note}>Comparing…</p>}
      {diff !== null && <Changes diff={diff} />}
    </section>
  )
}

function Moment({ checkpoint }: { checkpoint: CheckpointSummary }) {
  return (
    <>
      <strong>{checkpointTitle(checkpoint)}</strong> ({new Date(checkpoint.createdAt).toLocaleTimeString()})
    </>
  )
}

function Changes({ diff: { files, truncated, conversation } }: { diff: CheckpointDiff }) {
  const { added, removed } = conversation
  return (
    <>
      <p className={styles.note} data-testid="conversation-changes">
        Conversation: {countOf(added.length, 'message')} added, {countOf(removed.length, 'message')} removed.
      </p>
      {files.length === 0 && <p className={styles.note}>The files are the same.</p>}
      {files.map((file) => (
        <FileChange key={file.path} file={file} isOpen={files.length <= 5} />
      ))}
      {truncated && <p className={styles.note}>There are more changes than are shown.</p>}
    </>
  )
}

function FileChange({
  file: { path, change, diff, truncated },
  isOpen,
}: {
  file: CheckpointFileChange
  isOpen: boolean
}) {
  return (
    <details className={styles.file} open={isOpen}>
      <summary>
        <span className={styles.path} title={path}>
          {path}
        </span>
        <span className={styles.change} data-change={change}>
          {change}
        </span>
      </summary>
      {diff !== undefined && <DiffView diff={diff} />}
      {truncated === true && <p className={styles.note}>Too large, or no text, to be shown in full.</p>}
      {diff === undefined && truncated === undefined && <p className={styles.note}>The text is the same.</p>}
    </details>
  )
}
