import { createHash, randomUUID } from 'node:crypto'

/** The checkpoint of a run's end: the same whoever saves it, so that it is saved once. */
export function endCheckpointId(threadId: string, runId: string, outcome: string): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([threadId, runId, outcome]))
    .digest('hex')
  return `checkpoint-${hash.slice(0, 32)}`
}

export function newCheckpointId(): string {
  return `checkpoint-${randomUUID().replaceAll('-', '')}`
}
