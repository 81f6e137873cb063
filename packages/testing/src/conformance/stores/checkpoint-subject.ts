import type { CheckpointEntry, CheckpointWriterLease, HoldfastStores, SandboxCheckpoint } from '@holdfast/core'
import { textMessages } from './transcript.ts'

/** A blob key whose hash is one digit over and over. The bytes need not exist: stores do not look. */
export function fileKey(digit: string): string {
  return `sandbox-files/sha256/${digit.repeat(64)}`
}

export function artifactKey(digit: string): string {
  return `sandbox-artifacts/sha256/${digit.repeat(64)}`
}

export function file(path: string, digit = 'a'): CheckpointEntry {
  return { path, kind: 'file', blobKey: fileKey(digit), size: 3 }
}

/** A small checkpoint with everything that a case does not care about filled in. */
export function newCheckpoint(input: Partial<SandboxCheckpoint> = {}): SandboxCheckpoint {
  return {
    id: 'checkpoint-1',
    threadId: 'thread-1',
    parentCheckpointId: null,
    createdAt: 1_000,
    reason: 'automatic',
    files: [file('a.txt')],
    conversation: textMessages('hello'),
    artifacts: [],
    ...input,
  }
}

/** Appends checkpoints of one thread, each on the one before, under one lease. Gives the lease. */
export async function appendChain(
  { checkpoints }: HoldfastStores,
  inputs: readonly Partial<SandboxCheckpoint>[],
  threadId = 'thread-1',
): Promise<CheckpointWriterLease> {
  const writer = await checkpoints.acquireWriter(threadId)
  for (const input of inputs) {
    const headId = await checkpoints.getHead(threadId)
    const checkpoint = newCheckpoint({ threadId, parentCheckpointId: headId, ...input })
    await checkpoints.append({ checkpoint, expectedHeadId: headId, writer })
  }
  return writer
}
