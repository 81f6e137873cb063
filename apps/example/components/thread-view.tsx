'use client'

import type { UIMessage } from '@tanstack/ai-react'
import { useCallback, useState } from 'react'
import { useThreadChat } from '../lib/client/use-thread-chat.ts'
import { Composer } from './composer.tsx'
import { FilesPanel } from './files-panel.tsx'
import { MessageList } from './message-list.tsx'
import { StatusLine } from './status-line.tsx'
import styles from './thread-view.module.css'

/** What stays while the page attaches anew to the thread's run. */
interface ThreadPageState {
  draft: string
  setDraft: (draft: string) => void
  problem: string | null
  setProblem: (problem: string | null) => void
  isFilesOpen: boolean
  setFilesOpen: (isOpen: boolean) => void
}

export function ThreadView({ threadId }: { threadId: string }) {
  const [session, setSession] = useState<{ attempt: number; messages: UIMessage[] }>({ attempt: 0, messages: [] })
  const [draft, setDraft] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const [isFilesOpen, setFilesOpen] = useState(false)
  const attachAnew = useCallback((messages: UIMessage[]) => {
    setSession(({ attempt }) => ({ attempt: attempt + 1, messages }))
  }, [])
  const page = { draft, setDraft, problem, setProblem, isFilesOpen, setFilesOpen }
  return (
    <ThreadSession
      key={session.attempt}
      threadId={threadId}
      attempt={session.attempt}
      initialMessages={session.messages}
      onMissedRun={attachAnew}
      page={page}
    />
  )
}

interface ThreadSessionProps {
  threadId: string
  attempt: number
  initialMessages: UIMessage[]
  onMissedRun: (shown: UIMessage[]) => void
  page: ThreadPageState
}

function ThreadSession({ page, ...input }: ThreadSessionProps) {
  const { threadId } = input
  const { draft, setDraft, problem, setProblem, isFilesOpen, setFilesOpen } = page
  const { messages, activity, state, isStored, send, stop } = useThreadChat({ ...input, onProblem: setProblem })

  const submit = async (text: string): Promise<void> => {
    setDraft('')
    const isTaken = await send(text)
    if (!isTaken) setDraft(text)
  }
  return (
    <div className={styles.view} data-files={isFilesOpen}>
      <section className={styles.chat} aria-label="Conversation">
        <MessageList
          messages={messages}
          outputs={activity.outputs}
          state={state}
          onExample={(text) => void submit(text)}
          onRetry={() => {
            setProblem(null)
            input.onMissedRun(messages)
          }}
        />
        <div className={styles.foot}>
          {problem !== null && (
            <p className={styles.problem} role="alert" data-testid="problem">
              {problem}
              <button type="button" onClick={() => setProblem(null)} aria-label="Dismiss">
                ×
              </button>
            </p>
          )}
          <StatusLine
            state={state}
            onStop={() => void stop()}
            isFilesOpen={isFilesOpen}
            changedFiles={Object.keys(activity.changes).length}
            onToggleFiles={() => setFilesOpen(!isFilesOpen)}
          />
          <Composer draft={draft} onDraft={setDraft} onSubmit={(text) => void submit(text)} isBusy={state.isActive} />
        </div>
      </section>
      <FilesPanel
        threadId={threadId}
        isStored={isStored}
        changes={activity.changes}
        version={`${activity.fileVersion}:${state.kind}`}
        onClose={() => setFilesOpen(false)}
      />
    </div>
  )
}
