import { CorruptDataError, decodeJson, isRunStatus } from '@holdfast/core'
import type { RunError, RunRecord } from '@holdfast/core'
import { maybeNumber, maybeText, number, text } from '../database/row.ts'
import type { Row } from '../database/statement.ts'

/** A row as TanStack's record: what is null in the database is absent here. */
export function runRecord(row: Row): RunRecord {
  const status = text(row, 'status')
  if (!isRunStatus(status)) throw new CorruptDataError('CORRUPT_DATA', 'A stored run has an unknown status.')
  const record: RunRecord = {
    runId: text(row, 'run_id'),
    threadId: text(row, 'thread_id'),
    status,
    startedAt: number(row, 'started_at'),
  }
  const optional = {
    finishedAt: maybeNumber(row, 'finished_at'),
    error: maybeJson<RunError>(row, 'error'),
    usage: maybeJson<NonNullable<RunRecord['usage']>>(row, 'usage'),
    sandboxKey: maybeText(row, 'sandbox_key'),
    detachedSince: maybeNumber(row, 'detached_since'),
    cancelRequested: row['cancel_requested'] == null ? undefined : row['cancel_requested'] === true,
    driverEpoch: maybeNumber(row, 'driver_epoch'),
  }
  const present = Object.entries(optional).filter(([, value]) => value !== undefined)
  return Object.assign(record, Object.fromEntries(present))
}

function maybeJson<T>(row: Row, column: string): T | undefined {
  const json = maybeText(row, column)
  return json === undefined ? undefined : (decodeJson(json, column) as T)
}
