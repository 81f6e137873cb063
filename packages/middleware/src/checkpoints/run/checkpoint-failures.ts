import { isHoldfastError } from '@holdfast/core'
import type { MetadataStore } from '@holdfast/core'
import type { SecretRedactor } from '../../secrets/secret-redactor.ts'

const NAMESPACE = 'holdfast.checkpoint-failures'

/** Why a run has no checkpoint of its end. */
export interface CheckpointFailure {
  readonly code: string
  readonly message: string
  /** Epoch milliseconds. */
  readonly at: number
}

export function toCheckpointFailure(error: unknown, redactor: SecretRedactor, at: number): CheckpointFailure {
  const code = isHoldfastError(error) ? error.code : 'CHECKPOINT_FAILED'
  const message = error instanceof Error ? error.message : String(error)
  return { code, message: redactor.text(message), at }
}

export async function saveCheckpointFailure(
  metadata: MetadataStore,
  runId: string,
  failure: CheckpointFailure,
): Promise<void> {
  await metadata.set(NAMESPACE, runId, failure)
}

/** Null when the run's checkpoint was stored, or none was wanted. */
export async function findCheckpointFailure(metadata: MetadataStore, runId: string): Promise<CheckpointFailure | null> {
  return (await metadata.get(NAMESPACE, runId)) as CheckpointFailure | null
}
