import type { CheckpointPolicy } from '@holdfast/core'
import type { CheckpointStores } from '../checkpoint-stores.ts'
import type { CheckpointLimits } from '../policy/checkpoint-limits.ts'
import type { CheckpointTrigger } from './checkpoint-triggers.ts'

/** How a run's workspace is saved. The run's own stores are used for those that are left out. */
export interface RunCheckpointOptions {
  store?: CheckpointStores['checkpoints']
  blobs?: CheckpointStores['blobs']
  artifacts?: CheckpointStores['artifacts']
  messages?: CheckpointStores['messages']
  metadata?: CheckpointStores['metadata']
  policy?: CheckpointPolicy
  limits?: Partial<CheckpointLimits>
  /** Default: `['finish']`. */
  on?: readonly CheckpointTrigger[]
}
