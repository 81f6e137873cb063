'use client'

import styles from './empty-thread.module.css'

const EXAMPLES = [
  { title: 'Something that takes a while', text: '$ for i in 1 2 3 4 5 6; do echo tick $i; sleep 1; done' },
  { title: 'Write and read a file', text: '$ mkdir -p notes && date > notes/today.txt\n$ cat notes/today.txt' },
  { title: 'What is this place?', text: '$ uname -sm && pwd && ls -la' },
]

/** What to do with a thread that has no messages. */
export function EmptyThread({ isLoading, onExample }: { isLoading: boolean; onExample: (text: string) => void }) {
  if (isLoading) {
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
