'use client'

import type { RunState } from '../lib/client/run-state.ts'
import styles from './empty-thread.module.css'

const EXAMPLES = [
  { title: 'Something that takes a while', text: '$ for i in 1 2 3 4 5 6; do echo tick $i; sleep 1; done' },
  { title: 'Write and read a file', text: '$ mkdir -p notes && date > notes/today.txt\n$ cat notes/today.txt' },
  { title: 'Ask before it deletes', text: '$ mkdir -p old && date > old/notes.txt\n$ rm -rf old\n$ ls' },
  { title: 'An agent in the sandbox, not on the server', text: '/agent remember the milk' },
  { title: 'What is this place?', text: '$ uname -sm && pwd && ls -la' },
]

interface EmptyThreadProps {
  state: RunState
  onExample: (text: string) => void
  onRetry: () => void
}

/** What stands in place of messages: that they are on their way, could not be had, or what to write first. */
export function EmptyThread({ state, onExample, onRetry }: EmptyThreadProps) {
  if (state.kind === 'unreachable') {
    return (
      <div className={styles.empty} data-testid="unreachable">
        <h1>The thread could not be loaded</h1>
        <p>Its messages and its sandbox are on the server; nothing is lost.</p>
        <button type="button" className={styles.retry} onClick={onRetry}>
          Try again
        </button>
      </div>
    )
  }
  if (state.kind === 'loading' || state.isActive) {
    return (
      <div className={styles.skeleton} aria-hidden data-testid="loading">
        <span />
        <span />
        <span />
      </div>
    )
  }
  return (
    <div className={styles.empty} data-testid="empty">
      <h1>A sandbox that holds</h1>
      <p>
        Every thread has a place of its own with files and processes. Ask for something that takes a while, then reload
        or close the page: the run goes on, and nothing is lost.
      </p>
      <ul>
        {EXAMPLES.map(({ title, text }) => (
          <li key={title}>
            <button type="button" onClick={() => onExample(text)}>
              <strong>{title}</strong>
              <code>{text}</code>
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}
