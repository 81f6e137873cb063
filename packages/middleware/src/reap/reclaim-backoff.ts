import type { SandboxInstanceRecord } from '@holdfast/core'

/** How often the destruction of a row's sandbox has failed. Kept in the row, so that every host waits alike. */
const ATTEMPTS_LABEL = 'holdfast.reclaim-attempts'

/** Wait after a first failure; each further one doubles it. */
export const FIRST_RETRY_MS = 30_000
export const LONGEST_RETRY_MS = 60 * 60_000

/** The row after one more failed try. */
export function withFailedAttempt(row: SandboxInstanceRecord, now: number): SandboxInstanceRecord {
  const labels = { ...row.labels, [ATTEMPTS_LABEL]: String(attemptsOf(row) + 1) }
  return { ...row, state: 'condemned', updatedAt: now, labels }
}

export function attemptsOf(row: SandboxInstanceRecord): number {
  const attempts = Number(row.labels?.[ATTEMPTS_LABEL] ?? 0)
  return Number.isSafeInteger(attempts) && attempts >= 0 ? attempts : 0
}

/** Whether it is time to try again. */
export function isRetryDue(row: SandboxInstanceRecord, now: number): boolean {
  const waitMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(attemptsOf(row), 20))
  return now - row.updatedAt >= waitMs
}
