import { assertId, InvalidInputError } from '@holdfast/core'
import type { LockOptions, LockStore } from '@holdfast/core'
import { CoordinationFallback } from './coordination-fallback.ts'
import { defineWorkspace } from './define-workspace.ts'
import { destroySandbox } from './destroy-sandbox.ts'
import { ensureUnderLock } from './ensure/ensure-under-lock.ts'
import type { EnsuredSandbox, SandboxEnsureContext } from './ensure-context.ts'
import { resumeSandbox } from './ensure/resume-sandbox.ts'
import type { SandboxDefinition, SandboxDefinitionConfig, SandboxDefinitionOptions } from './sandbox-definition.ts'
import { sandboxKey } from './sandbox-key.ts'
import type { SandboxKeyContext } from './sandbox-key.ts'
import { parseLifecycle } from './sandbox-lifecycle.ts'
import { workspaceHash } from './workspace-hash.ts'

const DEFAULT_DESTROY_TIMEOUT_MS = 30_000

/** Describes a sandbox. Checks the options and makes nothing: `INVALID_CONFIGURATION`, `INVALID_ID`. */
export function defineSandbox(options: SandboxDefinitionOptions): SandboxDefinition {
  const config = parseOptions(options)
  const fallback = new CoordinationFallback()
  const key = (context: SandboxKeyContext): string =>
    sandboxKey(
      {
        sandboxId: config.id,
        providerName: config.provider.name,
        workspaceHash: config.workspaceHash,
        reuse: config.lifecycle.reuse,
      },
      context,
    )
  const ensureDetailed = async (context: SandboxEnsureContext): Promise<EnsuredSandbox> => {
    const input = {
      definition: config,
      key: key(context),
      context,
      store: fallback.store(context),
      locks: fallback.locks(context),
      metadata: fallback.metadata(context),
    }
    const wait = context.signal === undefined ? {} : { signal: context.signal }
    context.signal?.throwIfAborted()
    return withSandboxLock(input.locks, input.key, wait, (leaseSignal) => ensureUnderLock({ ...input, leaseSignal }))
  }
  return Object.freeze({
    ...config,
    key,
    ensureDetailed,
    ensure: async (context: SandboxEnsureContext) => (await ensureDetailed(context)).handle,
    async ensureExisting(context: SandboxEnsureContext) {
      const record = await fallback.store(context).get(key(context))
      if (record === null || (record.state ?? 'ready') !== 'ready') return null
      return resumeSandbox(config, record, context.signal)
    },
    destroy: async (context: SandboxEnsureContext) => {
      const input = { definition: config, key: key(context), context, store: fallback.store(context) }
      const wait = { waitMs: config.destroyTimeoutMs }
      await withSandboxLock(fallback.locks(context), input.key, wait, () => destroySandbox(input))
    },
  })
}

/** One host at a time makes, resumes or removes the sandbox of a key. A plain lock ignores how long to wait. */
function withSandboxLock<T>(
  locks: LockStore,
  key: string,
  wait: LockOptions,
  work: (leaseSignal: AbortSignal) => Promise<T>,
): Promise<T> {
  const withLock: (key: string, fn: (signal: AbortSignal) => Promise<T>, options: LockOptions) => Promise<T> =
    locks.withLock.bind(locks)
  return withLock(`sandbox:${key}`, work, wait)
}

function parseOptions(options: SandboxDefinitionOptions): SandboxDefinitionConfig {
  const { provider, workspace = defineWorkspace(), policy, fileEvents = false } = options
  const { destroyTimeoutMs = DEFAULT_DESTROY_TIMEOUT_MS } = options
  if (typeof provider?.create !== 'function' || typeof provider.name !== 'string') {
    throw new InvalidInputError('INVALID_CONFIGURATION', 'defineSandbox needs a provider.')
  }
  if (!Number.isFinite(destroyTimeoutMs) || destroyTimeoutMs <= 0) {
    throw new InvalidInputError('INVALID_CONFIGURATION', 'destroyTimeoutMs must be a positive number of milliseconds.')
  }
  const { maxSandboxes } = options
  if (maxSandboxes !== undefined && (!Number.isSafeInteger(maxSandboxes) || maxSandboxes < 1)) {
    throw new InvalidInputError('INVALID_CONFIGURATION', 'maxSandboxes must be a whole number, 1 or more.')
  }
  return {
    id: assertId('sandbox id', options.id),
    provider,
    workspace,
    workspaceHash: workspaceHash(workspace),
    ...(policy !== undefined && { policy }),
    lifecycle: parseLifecycle(options.lifecycle),
    hooks: options.hooks ?? {},
    fileEvents: fileEvents === false ? false : { diff: fileEvents === true || fileEvents.diff !== false },
    destroyTimeoutMs,
    ...(maxSandboxes !== undefined && { maxSandboxes }),
  }
}
