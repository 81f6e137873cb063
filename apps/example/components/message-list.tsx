'use client'

import type { UIMessage } from '@tanstack/ai-react'
import { useEffect, useMemo } from 'react'
import type { Approvals } from '../lib/client/approvals.ts'
import type { RunActivity } from '../lib/client/run-activity.ts'
import type { RunState } from '../lib/client/run-state.ts'
import { toolResults } from '../lib/client/tool-call-view.ts'
import { useStickToEnd } from '../lib/client/use-stick-to-end.ts'
import { EmptyThread } from './empty-thread.tsx'
import { loadFormatting } from './markdown.tsx'
import { MessageView } from './message-view.tsx'
import styles from './message-list.module.css'

interface MessageListProps {
  messages: UIMessage[]
  outputs: RunActivity['outputs']
  approvals: Approvals
  state: RunState
  onExample: (text: string) => void
  /** Attaches the page to the thread again. */
  onRetry: () => void
}

/** The conversation. Follows its end until the reader scrolls up. */
export function MessageList({ messages, outputs, approvals, state, onExample, onRetry }: MessageListProps) {
  const { scroller, content, isAtEnd, jumpToEnd } = useStickToEnd()
  const results = useMemo(() => toolResults(messages), [messages])
  const visible = messages.filter((message) => message.role !== 'system' && message.parts.length > 0)
  const hasMessages = visible.length > 0
  useEffect(() => {
    if (hasMessages) void loadFormatting()
  }, [hasMessages])
  const lastUser = visible.findLastIndex((message) => message.role === 'user')
  const isWaitingForWords = state.isActive && lastUser === visible.length - 1
  return (
    <div className={styles.frame}>
      {/* Scrolling with the keyboard needs a focusable region. */}
      <div className={styles.scroller} ref={scroller} tabIndex={0} role="log" aria-label="Messages" aria-live="off">
        <div className={styles.content} ref={content} data-testid="messages">
          {!hasMessages && <EmptyThread state={state} onExample={onExample} onRetry={onRetry} />}
          {visible.map((message, index) => (
            <MessageView
              key={message.id}
              message={message}
              results={results}
              outputs={outputs}
              approvals={approvals}
              isLast={index === visible.length - 1}
              isActive={state.isActive && index > lastUser}
              isWaiting={state.kind === 'waiting' && index > lastUser}
            />
          ))}
          {isWaitingForWords && hasMessages && (
            <p className={styles.waiting} aria-hidden>
              <span />
              <span />
              <span />
            </p>
          )}
        </div>
      </div>
      {!isAtEnd && (
        <button type="button" className={styles.jump} onClick={jumpToEnd}>
          Latest
        </button>
      )}
    </div>
  )
}
