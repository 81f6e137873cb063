'use client'

import { useState } from 'react'
import type { CheckpointSummary } from '../../lib/client/checkpoints-api.ts'
import { CheckpointItem } from './checkpoint-item.tsx'
import styles from './checkpoint-timeline.module.css'

interface CheckpointTimelineProps {
  /** Newest first. */
  checkpoints: readonly CheckpointSummary[]
  headId: string | null
  onCompare: (from: CheckpointSummary, to: CheckpointSummary) => void
  onRewind: (checkpointId: string) => Promise<void>
  onFork: (checkpointId: string) => Promise<void>
}

/** The checkpoints, of which two can be chosen and compared. */
export function CheckpointTimeline({ checkpoints, headId, onCompare, onRewind, onFork }: CheckpointTimelineProps) {
  const [selected, setSelected] = useState<readonly string[]>([])
  const [newer, older] = checkpoints.filter(({ id }) => selected.includes(id))
  const canCompare = newer !== undefined && older !== undefined
  return (
    <>
      {checkpoints.length > 1 && (
        <div className={styles.compare}>
          <p aria-live="polite">{canCompare ? 'Two chosen.' : 'Choose two to compare.'}</p>
          <button type="button" disabled={!canCompare} onClick={() => canCompare && onCompare(older, newer)}>
            Compare
          </button>
        </div>
      )}
      <ol className={styles.timeline} data-testid="timeline">
        {checkpoints.map((checkpoint) => (
          <CheckpointItem
            key={checkpoint.id}
            checkpoint={checkpoint}
            isHead={checkpoint.id === headId}
            isSelected={selected.includes(checkpoint.id)}
            onSelect={() => setSelected(toggled(selected, checkpoint.id))}
            onRewind={() => onRewind(checkpoint.id)}
            onFork={() => onFork(checkpoint.id)}
          />
        ))}
      </ol>
    </>
  )
}

/** At most two; a third takes the place of the one chosen first. */
function toggled(selected: readonly string[], id: string): readonly string[] {
  return selected.includes(id) ? selected.filter((other) => other !== id) : [...selected.slice(-1), id]
}
