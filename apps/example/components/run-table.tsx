'use client'

import Link from 'next/link'
import { useState } from 'react'
import { cancelRun, messageOf } from '../lib/client/api.ts'
import type { RunSummary } from '../lib/client/api.ts'
import { useRuns } from '../lib/client/use-runs.ts'
import styles from './run-table.module.css'

/** Every run, newest first, wherever it is driven; any of them can be stopped from here. */
export function RunTable() {
  const { runs, problem } = useRuns()
  return (
    <section className={styles.page} aria-labelledby="runs-title">
      <h1 id="runs-title">Runs</h1>
      {problem !== null && (
        <p className={styles.note} role="alert">
          {problem}
        </p>
      )}
      {runs === null && problem === null && <p className={styles.note}>Loading runs…</p>}
      {runs?.length === 0 && <p className={styles.note}>No run yet.</p>}
      {runs !== null && runs.length > 0 && (
        <section className={styles.scroller} tabIndex={0} aria-label="Run table">
          <table className={styles.table} data-testid="runs">
            <thead>
              <tr>
                <th scope="col">Status</th>
                <th scope="col">Started</th>
                <th scope="col">Took</th>
                <th scope="col">Thread</th>
                <th scope="col">Run</th>
                <th scope="col">
                  <span className={styles.hidden}>Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {runs.map((run) => (
                <RunRow key={run.runId} run={run} />
              ))}
            </tbody>
          </table>
        </section>
      )}
    </section>
  )
}

function RunRow({ run }: { run: RunSummary }) {
  const [stopped, setStopped] = useState<string | null>(null)
  const stop = async (): Promise<void> => {
    setStopped('Stopping…')
    await cancelRun(run.runId).catch((error: unknown) => setStopped(messageOf(error)))
  }
  const isActive = run.status === 'running'
  const status = isActive && run.detachedSince !== undefined ? 'detached' : run.status
  return (
    <tr>
      <td>
        <span className={styles.status} data-status={status} title={run.error?.message}>
          {status}
        </span>
      </td>
      <td>{new Date(run.startedAt).toLocaleString()}</td>
      <td>{took(run)}</td>
      <td>
        <Link href={`/t/${encodeURIComponent(run.threadId)}`} prefetch={false}>
          {run.threadId}
        </Link>
      </td>
      <td className={styles.id}>{run.runId}</td>
      <td>
        {isActive && stopped === null && (
          <button type="button" onClick={() => void stop()}>
            Stop
          </button>
        )}
        {isActive && stopped}
      </td>
    </tr>
  )
}

function took({ startedAt, finishedAt }: RunSummary): string {
  const ms = (finishedAt ?? Date.now()) - startedAt
  return ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.floor(ms / 60_000)} min`
}
