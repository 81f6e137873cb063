import type { SandboxInstanceRecord } from '@holdfast/core'

const TAKEN_AT = 'holdfast.snapshot-at'

/** The record with a vendor snapshot taken at `takenAt`, epoch milliseconds. */
export function withSnapshot(
  record: SandboxInstanceRecord,
  snapshotId: string,
  takenAt: number,
): SandboxInstanceRecord {
  return { ...record, latestSnapshotId: snapshotId, labels: { ...record.labels, [TAKEN_AT]: String(takenAt) } }
}

/** Milliseconds since the record's snapshot was taken; since the record's last change where that was not noted. */
export function snapshotAgeMs(record: SandboxInstanceRecord, now: number): number {
  const takenAt = Number(record.labels?.[TAKEN_AT] ?? record.updatedAt)
  return Number.isFinite(takenAt) ? now - takenAt : Number.POSITIVE_INFINITY
}
