'use client'

import { useCallback, useEffect, useRef, useState } from 'react'
import type { Approval, Approvals } from '../lib/client/approvals.ts'
import type { OutputSegment } from '../lib/client/run-activity.ts'
import type { ToolCallView } from '../lib/client/tool-call-view.ts'
import { ApprovalQuestion } from './approval-question.tsx'
import styles from './tool-card.module.css'

interface ToolCardProps {
  view: ToolCallView
  isLatest: boolean
  /** What the call waits for. */
  approval: Approval | undefined
  approvals: Approvals
}

/** A tool call. Open while it asks or is the latest thing that happened, unless the reader decides otherwise. */
export function ToolCard({ view, isLatest, approval, approvals }: ToolCardProps) {
  const [choice, setChoice] = useState<boolean | null>(null)
  const head = useRef<HTMLButtonElement>(null)
  const focusHead = useCallback(() => head.current?.focus({ preventScroll: true }), [])
  const isOpen = choice ?? (isLatest || approval !== undefined)
  const { callId, name, summary, outcome, output } = view
  const bodyId = `output-${callId}`
  return (
    <section className={styles.card} data-testid="tool-card" data-outcome={outcome.kind} aria-label={`Tool ${name}`}>
      <button
        ref={head}
        type="button"
        className={styles.head}
        aria-expanded={isOpen}
        aria-controls={bodyId}
        onClick={() => setChoice(!isOpen)}
      >
        <span className={styles.chevron} data-open={isOpen} aria-hidden />
        <span className={styles.name}>{name}</span>
        <code className={styles.summary}>{summary}</code>
        <span className={styles.outcome} data-outcome={outcome.kind}>
          {outcome.label}
        </span>
      </button>
      <div id={bodyId} hidden={!isOpen}>
        {isOpen && approval !== undefined && (
          <ApprovalQuestion
            approval={approval}
            isSending={approvals.isSending}
            onDecide={(isApproved) => approvals.decide(callId, isApproved)}
            onGone={focusHead}
          />
        )}
        {isOpen && approval === undefined && <Output segments={output} outcome={outcome.kind} />}
      </div>
    </section>
  )
}

const NOTHING_PRINTED: Partial<Record<ToolCallView['outcome']['kind'], string>> = {
  running: 'Nothing printed yet.',
  waiting: 'Not started yet.',
}

function Output({
  segments,
  outcome,
}: {
  segments: readonly OutputSegment[]
  outcome: ToolCallView['outcome']['kind']
}) {
  const box = useRef<HTMLPreElement>(null)
  const isRunning = outcome === 'running'
  useEffect(() => {
    if (isRunning && box.current !== null) box.current.scrollTop = box.current.scrollHeight
  }, [segments, isRunning])
  if (segments.length === 0) {
    return <p className={styles.none}>{NOTHING_PRINTED[outcome] ?? 'No output.'}</p>
  }
  return (
    <pre className={styles.output} ref={box} data-testid="tool-output" tabIndex={0} aria-label="Output">
      {segments.map(({ from, text }, index) => (
        <span key={index} data-from={from}>
          {text}
        </span>
      ))}
    </pre>
  )
}
