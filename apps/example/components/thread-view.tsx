'use client'

import type { UIMessage } from '@tanstack/ai-react'
import { useCallback, useState } from 'react'
import { useThreadChat } from '../lib/client/use-thread-chat.ts'
import { Composer } from './composer.tsx'
import { MessageList } from './message-list.tsx'
import type { SideTab } from './side-panel.tsx'
import { StatusLine } from './status-line.tsx'
import { ThreadSide } from './thread-side.tsx'
import styles from './thread-view.module.css'

/** What stays while the page attaches anew to the thread's run. */
interface ThreadPageState {
  draft: string
  setDraft: (draft: string) => void
  problem: string | null
  setProblem: (problem: string | null) => void
  tab: SideTab
  setTab: (tab: SideTab) => void
  /** Where there is no room for it beside the chat. */
  isPanelOpen: boolean
  setPanelOpen: (isOpen: boolean) => void
}

export function ThreadView({ threadId }: { threadId: string }) {
  const [session, setSession] = useState<{ attempt: number; messages: UIMessage[] }>({ attempt: 0, messages: [] })
  const [draft, setDraft] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const [tab, setTab] = useState<SideTab>('files')
  const [isPanelOpen, setPanelOpen] = useState(false)
  const attachAnew = useCallback((messages: UIMessage[]) => {
    setSession(({ attempt }) => ({ attempt: attempt + 1, messages }))
  }, [])
  const page = { draft, setDraft, problem, setProblem, tab, setTab, isPanelOpen, setPanelOpen }
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
  const { draft, setDraft, problem, setProblem, tab, setTab, isPanelOpen, setPanelOpen } = page
  const { messages, activity, state, approvals, isStored, send, stop } = useThreadChat({
    ...input,
    onProblem: setProblem,
  })

  const submit = async (text: string): Promise<void> => {
    setDraft('')
    const isTaken = await send(text)
    if (!isTaken) setDraft(text)
  }
  return (
    <div className={styles.view} data-panel={isPanelOpen}>
      <section className={styles.chat} aria-label="Conversation">
        <MessageList
          messages={messages}
          outputs={activity.outputs}
          approvals={approvals}
          state={state}
          onExample={(text) => void submit(text)}
          onRetry={() => {
            setProblem(null)
            input.onMissedRun(messages)
          }}
        />
        <div className={styles.foot}>
          {problem !== null && <Problem text={problem} onDismiss={() => setProblem(null)} />}
          <StatusLine
            state={state}
            onStop={() => void stop()}
            openTab={isPanelOpen ? tab : null}
            changedFiles={Object.keys(activity.changes).length}
            onToggle={(chosen) => {
              setTab(chosen)
              setPanelOpen(!(isPanelOpen && tab === chosen))
            }}
          />
          <Composer
            draft={draft}
            onDraft={setDraft}
            onSubmit={(text) => void submit(text)}
            isBusy={state.canStop}
            isAsked={state.kind === 'waiting'}
          />
        </div>
      </section>
      <ThreadSide
        threadId={threadId}
        isStored={isStored}
        activity={activity}
        state={state}
        tab={tab}
        onTab={setTab}
        onClose={() => setPanelOpen(false)}
        onRewound={() => input.onMissedRun([])}
      />
    </div>
  )
}

function Problem({ text, onDismiss }: { text: string; onDismiss: () => void }) {
  return (
    <p className={styles.problem} role="alert" data-testid="problem">
      {text}
      <button type="button" onClick={onDismiss} aria-label="Dismiss">
        ×
      </button>
    </p>
  )
}
