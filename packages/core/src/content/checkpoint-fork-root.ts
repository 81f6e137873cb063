import type { SandboxCheckpoint } from './checkpoint.ts'
import { assertCheckpoint } from './checkpoint-check.ts'
import type { CheckpointForkInput } from './checkpoint-store.ts'

/** The first checkpoint of a thread that is forked from `source`. Rejects malformed ids as `append` does. */
export function checkpointForkRoot(source: SandboxCheckpoint, input: CheckpointForkInput): SandboxCheckpoint {
  const root: SandboxCheckpoint = {
    ...source,
    id: input.destinationCheckpointId,
    threadId: input.destinationThreadId,
    parentCheckpointId: null,
    createdAt: input.createdAt,
    reason: 'fork-root',
  }
  assertCheckpoint(root)
  return root
}
