'use client'

import { useId, useLayoutEffect, useRef } from 'react'
import type { RefObject } from 'react'
import type { Approval } from '../lib/client/approvals.ts'
import styles from './approval-question.module.css'

interface ApprovalQuestionProps {
  approval: Approval
  isSending: boolean
  onDecide: (isApproved: boolean) => void
  /** Takes the keyboard when the question goes away under it. Stable. */
  onGone: () => void
}

/** What a model wants to do, why a person is asked, and the two answers. */
export function ApprovalQuestion({ approval, isSending, onDecide, onGone }: ApprovalQuestionProps) {
  const box = useRef<HTMLElement>(null)
  const id = useId()
  useKeyboard(box, onGone)
  const { toolName, action, rule, decision } = approval
  const isCommand = toolName === 'bash'
  return (
    <section ref={box} className={styles.question} tabIndex={-1} aria-labelledby={id} data-testid="approval">
      <p id={id} className={styles.title} role="alert">
        {isCommand ? 'Run this command?' : `Allow ${toolName}?`}
      </p>
      <pre className={styles.action} tabIndex={0} aria-label={isCommand ? 'Command' : 'Action'}>
        {action}
      </pre>
      <p className={styles.reason}>
        {rule === undefined ? (
          'The sandbox policy asks a person first.'
        ) : (
          <>
            The sandbox policy asks before <code>{rule}</code>.
          </>
        )}{' '}
        If you deny it, the model is told and goes on without it.
      </p>
      <div className={styles.answers}>
        <Answer label="Approve" isChosen={decision === true} isSending={isSending} onChoose={() => onDecide(true)} />
        <Answer label="Deny" isChosen={decision === false} isSending={isSending} onChoose={() => onDecide(false)} />
        <output className={styles.progress}>{progressOf(decision, isSending)}</output>
      </div>
    </section>
  )
}

interface AnswerProps {
  label: 'Approve' | 'Deny'
  isChosen: boolean
  isSending: boolean
  onChoose: () => void
}

/** Refuses clicks itself while it waits, because a disabled button would drop the keyboard. */
function Answer({ label, isChosen, isSending, onChoose }: AnswerProps) {
  return (
    <button
      type="button"
      className={styles.answer}
      data-answer={label.toLowerCase()}
      data-chosen={isChosen}
      aria-disabled={isSending}
      onClick={() => (isSending ? undefined : onChoose())}
    >
      {label}
    </button>
  )
}

function progressOf(decision: boolean | undefined, isSending: boolean): string {
  if (isSending) return 'Sending…'
  if (decision === undefined) return ''
  return `${decision ? 'Approved' : 'Denied'}, once the other question is answered.`
}

/** Takes the keyboard only from where nobody is writing, and gives it back when it goes. */
function useKeyboard(box: RefObject<HTMLElement | null>, onGone: () => void): void {
  useLayoutEffect(() => {
    const element = box.current
    if (element !== null && isIdle(document.activeElement)) element.focus({ preventScroll: true })
    return () => {
      if (element?.contains(document.activeElement)) onGone()
    }
  }, [box, onGone])
}

function isIdle(focused: Element | null): boolean {
  if (focused instanceof HTMLTextAreaElement) return focused.value === ''
  return focused === null || focused === document.body
}
