'use client'

import { useEffect, useRef, useState } from 'react'
import type { OutputSegment } from '../lib/client/run-activity.ts'
import type { ToolCallView } from '../lib/client/tool-call-view.ts'
import styles from './tool-card.module.css'

/** A tool call. Open while it is the latest thing that happened, unless the reader decides otherwise. */
export function ToolCard({ view, isLatest }: { view: ToolCallView; isLatest: boolean }) {
  const [choice, setChoice] = useState<boolean | null>(null)
  const isOpen = choice ?? isLatest
  const { callId, name, summary, outcome, output } = view
  const bodyId = `output-${callId}`
  return (
    <section className={styles.card} data-testid="tool-card" data-outcome={outcome.kind} aria-label={`Tool ${name}`}>
      <button
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
        {isOpen && <Output segments={output} isRunning={outcome.kind === 'running'} />}
      </div>
    </section>
  )
}

function Output({ segments, isRunning }: { segments: readonly OutputSegment[]; isRunning: boolean }) {
  const box = useRef<HTMLPreElement>(null)
  useEffect(() => {
    if (isRunning && box.current !== null) box.current.scrollTop = box.current.scrollHeight
  }, [segments, isRunning])
  if (segments.length === 0) {
    return <p className={styles.none}>{isRunning ? 'Nothing printed yet.' : 'No output.'}</p>
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
