import type { SandboxHandle, SandboxPolicy, SandboxProvider } from '@holdfast/core'
import type { EnsuredSandbox, SandboxEnsureContext } from './ensure-context.ts'
import type { Workspace } from './define-workspace.ts'
import type { SandboxHooks } from './sandbox-hooks.ts'
import type { SandboxKeyContext } from './sandbox-key.ts'
import type { SandboxLifecycle, SandboxLifecycleOptions } from './sandbox-lifecycle.ts'

/** What an app says about its sandboxes. */
export interface SandboxDefinitionOptions {
  /** Names the definition; part of the sandbox key. */
  id: string
  provider: SandboxProvider
  workspace?: Workspace
  policy?: SandboxPolicy
  lifecycle?: SandboxLifecycleOptions
  hooks?: SandboxHooks
  /** Events for files that change during a run, with diffs unless `diff` is false. Default false. */
  fileEvents?: boolean | { diff?: boolean }
  /** Longest time for destroying a sandbox. Default 30,000. */
  destroyTimeoutMs?: number
  /**
   * Most sandboxes that one tenant has at a time, parked ones included; one more is refused with `LIMIT_EXCEEDED`. Counts
   * those that are made while the limit is set. No limit when left out.
   */
  maxSandboxes?: number
}

/** The checked options. Plain reading: nothing here makes a sandbox. */
export interface SandboxDefinitionConfig {
  readonly id: string
  readonly provider: SandboxProvider
  readonly workspace: Workspace
  readonly workspaceHash: string
  readonly policy?: SandboxPolicy
  readonly lifecycle: SandboxLifecycle
  readonly hooks: SandboxHooks
  readonly fileEvents: { readonly diff: boolean } | false
  readonly destroyTimeoutMs: number
  readonly maxSandboxes?: number
}

/** What a sandbox is, before there is one. Every method may be repeated. */
export interface SandboxDefinition extends SandboxDefinitionConfig {
  /** Which sandbox the run gets. `INVALID_ID` for a malformed id. */
  key: (context: SandboxKeyContext) => string
  /**
   * A usable sandbox: resumed, else restored from the vendor's snapshot, else created and bootstrapped, under the lock
   * `sandbox:<key>`. Rejects with what went wrong; a sandbox that this call made is destroyed then, or its row is
   * `condemned` when that failed. A sandbox that cannot be reached is never replaced.
   */
  ensure: (context: SandboxEnsureContext) => Promise<SandboxHandle>
  ensureDetailed: (context: SandboxEnsureContext) => Promise<EnsuredSandbox>
  /** The sandbox if there is one, else null. Creates nothing. Rejects when it cannot be reached. */
  ensureExisting: (context: SandboxEnsureContext) => Promise<SandboxHandle | null>
  /**
   * Removes the sandbox and then its row. Ignores `context.signal`: it has a limit of its own. `SANDBOX_DESTROY_FAILED`
   * when the sandbox may still exist; its row is then `condemned`. `SANDBOX_FOREIGN` for another provider's row.
   */
  destroy: (context: SandboxEnsureContext) => Promise<void>
}
