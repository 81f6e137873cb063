'use client'

import type { UIMessage } from '@tanstack/ai-react'
import { memo } from 'react'
import type { Approvals } from '../lib/client/approvals.ts'
import type { RunActivity } from '../lib/client/run-activity.ts'
import { toolCallView } from '../lib/client/tool-call-view.ts'
import { Markdown } from './markdown.tsx'
import { ToolCard } from './tool-card.tsx'
import styles from './message-view.module.css'

interface MessageViewProps {
  message: UIMessage
  results: ReadonlyMap<string, string>
  outputs: RunActivity['outputs']
  approvals: Approvals
  isLast: boolean
  /** The run that writes this message goes on. */
  isActive: boolean
  /** The run that wrote this message waits for a person. */
  isWaiting: boolean
}

export const MessageView = memo(function MessageView({ message, ...context }: MessageViewProps) {
  if (message.role === 'user') {
    return (
      <article className={styles.user} aria-label="You" data-testid="message-user">
        {textOf(message)}
      </article>
    )
  }
  return (
    <article className={styles.assistant} aria-label="Assistant" data-testid="message-assistant">
      {message.parts.map((part, index) => (
        <Part key={partKey(part, index)} part={part} message={message} {...context} />
      ))}
    </article>
  )
})

type MessagePart = UIMessage['parts'][number]

function Part({ part, message, ...context }: MessageViewProps & { part: MessagePart }) {
  const { results, outputs, approvals, isLast, isActive, isWaiting } = context
  const shownParts = message.parts.filter((other) => other.type === 'text' || other.type === 'tool-call')
  const isLastPart = isLast && shownParts.at(-1) === part
  switch (part.type) {
    case 'text':
      return <Markdown text={part.content} isStreaming={isActive && isLastPart} />
    case 'thinking':
      return (
        <details className={styles.thinking}>
          <summary>Thinking</summary>
          {part.content}
        </details>
      )
    case 'tool-call': {
      // While an answer is on its way the run counts as active, and the question stays.
      const approval = isWaiting || approvals.isSending ? approvals.byCall.get(part.id) : undefined
      const isAsked = isWaiting || approval !== undefined
      const view = toolCallView(part, {
        result: results.get(part.id),
        live: outputs[part.id],
        isActive: isActive && !isAsked,
        isWaiting: isAsked,
      })
      return <ToolCard view={view} isLatest={isLastPart} approval={approval} approvals={approvals} />
    }
    default:
      return null
  }
}

function partKey(part: MessagePart, index: number): string {
  return part.type === 'tool-call' ? part.id : `${part.type}-${index}`
}

function textOf(message: UIMessage): string {
  return message.parts.map((part) => (part.type === 'text' ? part.content : '')).join('')
}
