import type { HoldfastStores } from '@holdfast/core'

/** What checkpoints are kept in. */
export type CheckpointStores = Pick<HoldfastStores, 'checkpoints' | 'blobs' | 'artifacts' | 'messages' | 'metadata'>
