import { InvalidInputError } from '../errors/error-classes.ts'
import { assertId, assertMs } from '../identifier.ts'
import type { SandboxInstanceRecord, SandboxInstanceState } from './sandbox-instance-store.ts'

const STATES: readonly SandboxInstanceState[] = ['intent', 'ready', 'condemned']

/** Throws `INVALID_ID` or `INVALID_ARGUMENT` when the record is malformed. */
export function assertInstanceRecord(record: SandboxInstanceRecord): void {
  for (const field of ['key', 'provider', 'providerSandboxId', 'threadId'] as const) assertId(field, record[field])
  for (const field of ['latestSnapshotId', 'latestRunId'] as const) {
    if (record[field] !== undefined) assertId(field, record[field])
  }
  assertMs('updatedAt', record.updatedAt)
  if (record.state !== undefined) assertInstanceState(record.state)
  if (Object.values(record.labels ?? {}).some((value) => typeof value !== 'string')) {
    throw new InvalidInputError('INVALID_ARGUMENT', 'Labels must be strings.')
  }
}

/** Throws `INVALID_ARGUMENT` for an unknown state. */
export function assertInstanceState(state: SandboxInstanceState): void {
  if (STATES.includes(state)) return
  throw new InvalidInputError('INVALID_ARGUMENT', `state must be one of ${STATES.join(', ')}.`)
}
