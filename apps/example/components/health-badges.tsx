'use client'

import { useEffect, useState } from 'react'
import { messageOf, readHealth } from '../lib/client/api.ts'
import type { Health, HealthCheck } from '../lib/client/api.ts'
import styles from './health-badges.module.css'

const PARTS = ['store', 'provider', 'model'] as const

/** What the server works with, and whether it works. */
export function HealthBadges() {
  const [health, setHealth] = useState<Health | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    const read = async (): Promise<void> => {
      try {
        setHealth(await readHealth())
        setProblem(null)
      } catch (error) {
        setProblem(messageOf(error))
      }
    }
    void read()
    const onFocus = (): void => void (document.hidden ? undefined : read())
    document.addEventListener('visibilitychange', onFocus)
    return () => document.removeEventListener('visibilitychange', onFocus)
  }, [])
  if (problem !== null) {
    return (
      <p className={styles.problem} role="alert" data-testid="health">
        {problem}
      </p>
    )
  }
  return (
    <dl className={styles.badges} data-testid="health">
      {PARTS.map((part) => (
        <Badge key={part} part={part} check={health?.[part]} />
      ))}
    </dl>
  )
}

function Badge({ part, check }: { part: string; check: HealthCheck | undefined }) {
  const state = check === undefined ? 'unknown' : check.ok ? 'ok' : 'bad'
  return (
    <div className={styles.badge} data-state={state} title={check?.reason}>
      <dt>{part}</dt>
      <dd>
        {check?.name ?? '…'}
        {state === 'bad' && <span className={styles.reason}> does not work</span>}
      </dd>
    </div>
  )
}
