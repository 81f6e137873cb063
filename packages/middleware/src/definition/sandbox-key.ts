import { assertId } from '@holdfast/core'
import { canonicalHash } from './canonical-json.ts'
import type { SandboxLifecycle } from './sandbox-lifecycle.ts'

/** Whose run it is. Part of the key: two tenants never share a sandbox. */
export interface SandboxTenant {
  userId?: string
  orgId?: string
}

export interface SandboxKeyContext {
  threadId: string
  runId: string
  tenant?: SandboxTenant
}

export interface SandboxKeyInput {
  sandboxId: string
  providerName: string
  workspaceHash: string
  reuse: SandboxLifecycle['reuse']
}

/** Raised when the meaning of the key changes, so that no earlier sandbox is taken for a new one. */
const KEY_VERSION = 1

/**
 * Which sandbox belongs to a run: 64 hex digits of SHA-256 over the thread (and the run, with `reuse: 'none'`), the
 * definition's id, the provider, the workspace and the tenant. A change of any of them means a fresh sandbox. `INVALID_ID`
 * for a malformed id.
 */
export function sandboxKey(input: SandboxKeyInput, context: SandboxKeyContext): string {
  const threadId = assertId('threadId', context.threadId)
  const runId = input.reuse === 'none' ? assertId('runId', context.runId) : undefined
  const { userId, orgId } = context.tenant ?? {}
  return canonicalHash({
    version: KEY_VERSION,
    threadId,
    runId,
    sandbox: input.sandboxId,
    provider: input.providerName,
    workspace: input.workspaceHash,
    tenant: { userId, orgId },
  })
}
