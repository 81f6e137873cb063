import { ProviderError } from '@holdfast/core'
import type { HoldfastStores, SandboxInstanceRecord } from '@holdfast/core'
import { destroyInTime } from '../definition/destroy-in-time.ts'
import type { SandboxDefinition } from '../definition/sandbox-definition.ts'

/**
 * Destroys every sandbox of a thread, those of an earlier workspace too, and removes their rows. `SANDBOX_DESTROY_FAILED`
 * when one may still exist: its row stays, so that nothing that is paid for is lost from sight. Repeatable.
 */
export async function destroyThreadSandboxes(
  stores: HoldfastStores,
  definition: SandboxDefinition,
  threadId: string,
): Promise<void> {
  for (;;) {
    const page = await stores.instances.list?.({ threadId, provider: definition.provider.name })
    const records = page?.records ?? []
    if (records.length === 0) return
    for (const record of records) await destroyRecord(stores, definition, record)
  }
}

async function destroyRecord(
  stores: HoldfastStores,
  definition: SandboxDefinition,
  record: SandboxInstanceRecord,
): Promise<void> {
  const id = record.providerSandboxId
  await stores.locks.withLock(`sandbox:${record.key}`, async () => {
    try {
      await destroyInTime(definition, id)
    } catch (cause) {
      const details = { sandboxId: id, provider: definition.provider.name }
      throw new ProviderError('SANDBOX_DESTROY_FAILED', `Sandbox ${id} could not be destroyed; try again.`, {
        cause,
        details,
        retryable: true,
      })
    }
    await stores.instances.delete(record.key)
  })
}
