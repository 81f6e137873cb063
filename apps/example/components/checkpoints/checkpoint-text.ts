import type { CheckpointReason, CheckpointSummary } from '../../lib/client/checkpoints-api.ts'

const REASONS: Readonly<Record<CheckpointReason, string>> = {
  automatic: 'After a run',
  named: 'Saved by hand',
  'fork-root': 'Start of this fork',
  rewind: 'Rewind',
  'before-destroy': 'Before the sandbox went',
  'failed-run': 'After a failed run',
}

/** What it was saved for, and the name that somebody gave it. */
export function checkpointTitle({ reason, label }: CheckpointSummary): string {
  if (label === undefined) return REASONS[reason] ?? reason
  return reason === 'automatic' ? `Automatic: ${label}` : `${REASONS[reason] ?? reason}: ${label}`
}

export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
