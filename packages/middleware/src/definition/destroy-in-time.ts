import { runWithDeadline } from '@holdfast/core/provider-kit'
import type { Clock } from '@holdfast/core'
import type { SandboxDefinitionConfig } from './sandbox-definition.ts'

/** Destroys by id under a signal of its own, so that an aborted run cannot keep its sandbox alive. */
export function destroyInTime(definition: SandboxDefinitionConfig, sandboxId: string, clock?: Clock): Promise<void> {
  const { provider, destroyTimeoutMs } = definition
  return runWithDeadline({ operation: 'sandbox destroy', timeoutMs: destroyTimeoutMs, clock }, (signal) =>
    provider.destroy({ id: sandboxId, signal }),
  )
}
