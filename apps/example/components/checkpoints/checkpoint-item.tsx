'use client'

import { useState } from 'react'
import type { CheckpointSummary } from '../../lib/client/checkpoints-api.ts'
import { checkpointTitle, countOf } from './checkpoint-text.ts'
import styles from './checkpoint-item.module.css'
import { takeFocus } from './take-focus.ts'

interface CheckpointItemProps {
  checkpoint: CheckpointSummary
  isHead: boolean
  isSelected: boolean
  onSelect: () => void
  onRewind: () => Promise<void>
  onFork: () => Promise<void>
}

/** One moment of the timeline and what can be done from it. */
export function CheckpointItem({ checkpoint, isHead, isSelected, onSelect, ...actions }: CheckpointItemProps) {
  const title = checkpointTitle(checkpoint)
  const at = new Date(checkpoint.createdAt)
  const name = `${title}, ${at.toLocaleTimeString()}`
  const changed = checkpoint.sizes?.changedFiles
  return (
    <li className={styles.item} data-head={isHead} data-reason={checkpoint.reason}>
      <label className={styles.choice}>
        <input type="checkbox" checked={isSelected} onChange={onSelect} aria-label={`Choose ${name}`} />
        <span className={styles.title}>{title}</span>
        {isHead && <span className={styles.head}>Head</span>}
      </label>
      <p className={styles.facts}>
        <time dateTime={at.toISOString()} title={at.toLocaleString()}>
          {whenOf(at)}
        </time>
        <span>
          {changed === undefined ? countOf(checkpoint.fileCount, 'file') : `${countOf(changed, 'file')} changed`}
        </span>
        <span>{countOf(checkpoint.messageCount, 'message')}</span>
      </p>
      <ItemActions name={name} {...actions} />
    </li>
  )
}

function ItemActions({ name, onRewind, onFork }: Pick<CheckpointItemProps, 'onRewind' | 'onFork'> & { name: string }) {
  const [phase, setPhase] = useState<'idle' | 'asking' | 'working'>('idle')
  const work = async (action: () => Promise<void>): Promise<void> => {
    setPhase('working')
    await action()
    setPhase('idle')
  }
  if (phase === 'asking') {
    return (
      <div className={styles.actions}>
        <p>Bring files and conversation back to this checkpoint? What is there now stays on the timeline.</p>
        <button type="button" data-danger ref={takeFocus} onClick={() => void work(onRewind)}>
          Rewind now
        </button>
        <button type="button" onClick={() => setPhase('idle')}>
          Cancel
        </button>
      </div>
    )
  }
  const isWorking = phase === 'working'
  return (
    <div className={styles.actions}>
      <button type="button" disabled={isWorking} aria-label={`Rewind to ${name}`} onClick={() => setPhase('asking')}>
        Rewind
      </button>
      <button
        type="button"
        disabled={isWorking}
        aria-label={`Fork ${name} to a new thread`}
        onClick={() => void work(onFork)}
      >
        Fork
      </button>
      <output>{isWorking && 'Working…'}</output>
    </div>
  )
}

function whenOf(at: Date): string {
  return at.toDateString() === new Date().toDateString() ? at.toLocaleTimeString() : at.toLocaleString()
}
