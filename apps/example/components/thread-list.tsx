'use client'

import Link from 'next/link'
import { usePathname, useRouter } from 'next/navigation'
import { useState } from 'react'
import { deleteThread, messageOf } from '../lib/client/api.ts'
import type { ThreadSummary } from '../lib/client/api.ts'
import { newThreadId } from '../lib/client/new-thread-id.ts'
import { announceThread } from '../lib/client/thread-signal.ts'
import { useThreads } from '../lib/client/use-threads.ts'
import styles from './thread-list.module.css'

export function ThreadList() {
  const router = useRouter()
  const pathname = usePathname()
  const { threads, problem, refresh } = useThreads()
  const open = (threadId: string): void => router.push(`/t/${threadId}`)
  return (
    <>
      <button type="button" className={styles.create} data-testid="new-thread" onClick={() => open(newThreadId())}>
        New thread
      </button>
      {problem !== null && (
        <p className={styles.note} role="alert">
          {problem}{' '}
          <button type="button" onClick={() => void refresh()}>
            Try again
          </button>
        </p>
      )}
      {threads === null && problem === null && <p className={styles.note}>Loading threads…</p>}
      {threads?.length === 0 && <p className={styles.note}>No threads yet. The first message makes one.</p>}
      <ul className={styles.list} data-testid="threads">
        {threads?.map((thread) => (
          <ThreadItem
            key={thread.threadId}
            thread={thread}
            isCurrent={pathname === `/t/${encodeURIComponent(thread.threadId)}`}
            onDeleted={(wasCurrent) => {
              announceThread(thread.threadId)
              if (wasCurrent) open(newThreadId())
            }}
          />
        ))}
      </ul>
    </>
  )
}

interface ThreadItemProps {
  thread: ThreadSummary
  isCurrent: boolean
  onDeleted: (wasCurrent: boolean) => void
}

function ThreadItem({ thread, isCurrent, onDeleted }: ThreadItemProps) {
  const [phase, setPhase] = useState<'idle' | 'asking' | 'deleting'>('idle')
  const [problem, setProblem] = useState<string | null>(null)
  const title = thread.title ?? 'Untitled'
  const remove = async (): Promise<void> => {
    setPhase('deleting')
    try {
      await deleteThread(thread.threadId)
      onDeleted(isCurrent)
    } catch (error) {
      setProblem(messageOf(error))
      setPhase('idle')
    }
  }
  if (phase !== 'idle') {
    return (
      <li className={styles.confirm}>
        <strong className={styles.doomed}>{title}</strong>
        <span>{phase === 'deleting' ? 'Deleting…' : 'Delete this thread with its files and sandbox?'}</span>
        <span className={styles.choices}>
          <button type="button" data-danger disabled={phase === 'deleting'} onClick={() => void remove()}>
            Delete
          </button>
          <button type="button" disabled={phase === 'deleting'} onClick={() => setPhase('idle')}>
            Keep
          </button>
        </span>
      </li>
    )
  }
  return (
    <li className={styles.item}>
      <Link
        href={`/t/${encodeURIComponent(thread.threadId)}`}
        className={styles.link}
        aria-current={isCurrent ? 'page' : undefined}
        title={title}
        prefetch={false}
      >
        {title}
      </Link>
      <button
        type="button"
        className={styles.remove}
        aria-label={`Delete thread ${title}`}
        onClick={() => setPhase('asking')}
      >
        ×
      </button>
      {problem !== null && (
        <p className={styles.note} role="alert">
          {problem}
        </p>
      )}
    </li>
  )
}
