'use client'

import { useLayoutEffect, useRef } from 'react'
import type { KeyboardEvent } from 'react'
import styles from './composer.module.css'

const MAX_HEIGHT_PX = 220

interface ComposerProps {
  draft: string
  onDraft: (draft: string) => void
  onSubmit: (text: string) => void
  isBusy: boolean
  /** A question has to be answered before anything else can be said. */
  isAsked: boolean
}

/** Enter sends, Shift+Enter makes a line. The text can be written, but not sent, while a run goes on. */
export function Composer({ draft, onDraft, onSubmit, isBusy, isAsked }: ComposerProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  const canSend = !isBusy && draft.trim() !== ''
  useLayoutEffect(() => {
    const element = field.current
    if (element === null) return
    element.style.height = 'auto'
    element.style.height = `${Math.min(element.scrollHeight, MAX_HEIGHT_PX)}px`
  }, [draft])
  const submit = (): void => {
    if (canSend) onSubmit(draft)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    submit()
  }
  return (
    <form
      className={styles.composer}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <textarea
        ref={field}
        className={styles.field}
        aria-label="Message"
        placeholder={isAsked ? 'Approve or deny first' : 'Ask, or $ and a command'}
        rows={1}
        value={draft}
        data-testid="composer"
        onChange={(event) => onDraft(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <button type="submit" className={styles.send} disabled={!canSend} data-testid="send">
        Send
      </button>
    </form>
  )
}
