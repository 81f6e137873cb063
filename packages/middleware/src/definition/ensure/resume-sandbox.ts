import { ConflictError } from '@holdfast/core'
import type { SandboxHandle, SandboxInstanceRecord } from '@holdfast/core'
import type { SandboxDefinitionConfig } from '../sandbox-definition.ts'
import { setSecrets } from './set-secrets.ts'

/** The row's sandbox with its secrets back, or null when the service says that it does not exist. */
export async function resumeSandbox(
  definition: SandboxDefinitionConfig,
  record: SandboxInstanceRecord,
  signal?: AbortSignal,
): Promise<SandboxHandle | null> {
  assertOwnProvider(definition, record)
  const handle = await definition.provider.resume({
    id: record.providerSandboxId,
    ...(signal !== undefined && { signal }),
  })
  if (handle !== null) await setSecrets(handle, definition.workspace)
  return handle
}

/** Another provider's row is not ours to act on: `SANDBOX_FOREIGN`. */
export function assertOwnProvider(definition: SandboxDefinitionConfig, record: SandboxInstanceRecord): void {
  if (record.provider === definition.provider.name) return
  const message = `The row of this sandbox was written by provider ${record.provider}, not ${definition.provider.name}.`
  throw new ConflictError('SANDBOX_FOREIGN', message, { details: { key: record.key, provider: record.provider } })
}
