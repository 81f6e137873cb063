'use client'

import type { RunState } from '../lib/client/run-state.ts'
import type { SideTab } from './side-panel.tsx'
import styles from './status-line.module.css'

interface StatusLineProps {
  state: RunState
  onStop: () => void
  changedFiles: number
  /** Which part of the panel covers the chat. */
  openTab: SideTab | null
  onToggle: (tab: SideTab) => void
}

/** One true sentence about the run, and the button that ends it. Always as high, so that nothing moves. */
export function StatusLine({ state, onStop, changedFiles, openTab, onToggle }: StatusLineProps) {
  return (
    <div className={styles.line}>
      <output className={styles.status} aria-live="polite" data-testid="status" data-state={state.kind}>
        <span className={styles.dot} data-state={state.kind} aria-hidden />
        <span className={styles.label}>{state.label}</span>
      </output>
      <button
        type="button"
        className={styles.toggle}
        aria-expanded={openTab === 'files'}
        aria-controls="side-panel"
        onClick={() => onToggle('files')}
      >
        Files{changedFiles > 0 && <span className={styles.count}>{changedFiles}</span>}
      </button>
      <button
        type="button"
        className={styles.toggle}
        aria-expanded={openTab === 'checkpoints'}
        aria-controls="side-panel"
        onClick={() => onToggle('checkpoints')}
      >
        Checkpoints
      </button>
      {state.canStop && (
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
