import { ProviderError, systemClock } from '@holdfast/core'
import type { SandboxInstanceRecord, SandboxInstanceStore } from '@holdfast/core'
import { workspaceRedactor } from '../secrets/workspace-redactor.ts'
import { assertOwnProvider } from './ensure/resume-sandbox.ts'
import { destroyInTime } from './destroy-in-time.ts'
import { loggerWithoutSecrets } from './definition-logger.ts'
import type { SandboxEnsureContext } from './ensure-context.ts'
import type { SandboxDefinitionConfig } from './sandbox-definition.ts'

export interface DestroySandboxInput {
  definition: SandboxDefinitionConfig
  key: string
  context: SandboxEnsureContext
  store: SandboxInstanceStore
}

/** Removes the sandbox, then its row. The caller holds the lock of the key. */
export async function destroySandbox(input: DestroySandboxInput): Promise<void> {
  const { definition, key, store, context } = input
  const record = await store.get(key)
  if (record === null) return
  assertOwnProvider(definition, record)
  try {
    await destroyInTime(definition, record.providerSandboxId, context.clock)
  } catch (error) {
    await condemn(input, record, error)
  }
  await store.delete(key)
  try {
    await definition.hooks.onDestroy?.()
  } catch (error) {
    const logger = loggerWithoutSecrets(context.logger ?? console, workspaceRedactor(definition.workspace))
    logger.warn('The onDestroy hook of the sandbox failed.', error)
  }
}

async function condemn(input: DestroySandboxInput, record: SandboxInstanceRecord, cause: unknown): Promise<never> {
  const { key, store, context } = input
  await store.upsert({ ...record, state: 'condemned', updatedAt: (context.clock ?? systemClock).now() })
  const message = `Sandbox ${record.providerSandboxId} could not be destroyed; its row is kept so that a sweep can retry.`
  throw new ProviderError('SANDBOX_DESTROY_FAILED', message, {
    cause,
    retryable: true,
    details: { key, sandboxId: record.providerSandboxId, provider: record.provider },
  })
}
