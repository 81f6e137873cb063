'use client'

import type { RunState } from '../lib/client/run-state.ts'
import styles from './status-line.module.css'

interface StatusLineProps {
  state: RunState
  onStop: () => void
  changedFiles: number
  isFilesOpen: boolean
  onToggleFiles: () => void
}

/** One true sentence about the run, and the button that ends it. Always as high, so that nothing moves. */
export function StatusLine({ state, onStop, changedFiles, isFilesOpen, onToggleFiles }: StatusLineProps) {
  return (
    <div className={styles.line}>
      <output className={styles.status} aria-live="polite" data-testid="status" data-state={state.kind}>
        <span className={styles.dot} data-state={state.kind} aria-hidden />
        <span className={styles.label}>{state.label}</span>
      </output>
      <button
        type="button"
        className={styles.files}
        aria-expanded={isFilesOpen}
        aria-controls="files"
        onClick={onToggleFiles}
      >
        Files{changedFiles > 0 && <span className={styles.count}>{changedFiles}</span>}
      </button>
      {state.isActive && (
        <button
          type="button"
          className={styles.stop}
          data-testid="stop"
          disabled={state.kind === 'stopping'}
          onClick={onStop}
        >
          Stop
        </button>
      )}
    </div>
  )
}
