import type { SandboxPolicy } from './sandbox-policy.ts'
import type { SandboxCapabilities } from './sandbox-capabilities.ts'
import type { SandboxHandle } from './sandbox-handle.ts'
import type { WorkspaceDefinition } from './workspace-definition.ts'

/** What a new sandbox is to be. */
export interface SandboxCreateInput {
  /** A deterministic name (the sandbox key). A repeated create with it adopts what a lost reply left behind. */
  id?: string
  /** Kept at the service. `list` finds by them, and adoption compares them. */
  labels?: Readonly<Record<string, string>>
  workspace?: WorkspaceDefinition
  policy?: SandboxPolicy
  env?: Record<string, string>
  signal?: AbortSignal
  adapterName?: string
}

/** Which sandbox is wanted again. */
export interface SandboxResumeInput {
  id: string
  signal?: AbortSignal
}

/** What a sandbox made from a snapshot is to be. */
export interface SandboxRestoreInput extends Omit<SandboxCreateInput, 'adapterName'> {
  snapshotId: string
}

/** Which sandbox goes. */
export interface SandboxDestroyInput {
  id: string
  signal?: AbortSignal
}

/** One sandbox as the service's own list shows it. */
export interface SandboxListing {
  sandboxId: string
  labels: Readonly<Record<string, string>>
  /** The service's word, for people. */
  state: string
  /** Epoch milliseconds, where the service tells. */
  createdAt?: number
}

/** Named images that later sandboxes are created from. */
export interface SandboxTemplates {
  /** Makes a named template of a sandbox; resolves when it can be created from. */
  capture: (sandboxId: string, name: string) => Promise<{ ref: string }>
  /** Repeatable. */
  delete: (ref: string) => Promise<void>
}

/** Whether the service can be reached and would create a sandbox; `reason` for a person when not. */
export interface SandboxProbe {
  ok: boolean
  reason?: string
}

/** Makes, finds and destroys sandboxes. Every call may be made again after a failure. */
export interface SandboxProvider {
  readonly name: string
  capabilities: () => SandboxCapabilities
  /**
   * Makes a sandbox and resolves when it can run commands. Rejects with nothing left behind. With an `id` that exists:
   * adopts it when its labels equal `labels`, else rejects with `SANDBOX_FOREIGN`.
   */
  create: (input: SandboxCreateInput) => Promise<SandboxHandle>
  /** A usable handle, started if need be; null **only** when the service said that it does not exist. Else rejects. */
  resume: (input: SandboxResumeInput) => Promise<SandboxHandle | null>
  restoreSnapshot?: (input: SandboxRestoreInput) => Promise<SandboxHandle>
  /** Repeatable; a sandbox that is gone is fine. Rejects when it could not destroy or could not find out. */
  destroy: (input: SandboxDestroyInput) => Promise<void>
  /** What the account really holds that carries all these labels. For sweeps; may lag behind by seconds. */
  list?: (input: { labels: Readonly<Record<string, string>>; signal?: AbortSignal }) => Promise<SandboxListing[]>
  /** Keeps the disk and stops paying for compute. Repeatable. */
  park?: (input: { id: string; mode: 'stop' | 'archive'; signal?: AbortSignal }) => Promise<void>
  readonly templates?: SandboxTemplates
  /** Never rejects for what the service says; creates nothing that stays. */
  probe?: (input?: { signal?: AbortSignal }) => Promise<SandboxProbe>
  /** Lets go of connections and timers. Local: destroys no sandbox. Repeatable. */
  close?: () => Promise<void>
}
