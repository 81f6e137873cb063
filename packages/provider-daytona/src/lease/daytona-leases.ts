import type { SandboxBackendHandle, SandboxTerminal } from '@holdfast/core'
import type { FileSync } from '../archive/file-sync.ts'
import type { AfterRelease, DaytonaOptions } from '../options/daytona-options.ts'
import { requireDaytonaOptions } from '../options/validate-options.ts'
import type { IngressEndpoint } from '../ports/daytona-ports.ts'
import type { InteractiveSetups } from '../templates/interactive-setup.ts'
import type { DuplexChannel, DuplexChannelInput } from '../terminal/duplex-channel.ts'

/** Who a lease is for. The ids stay the same for as long as the lease may be resumed. */
export interface LeaseOwner {
  /** The lease's own key: the sandbox's name comes from it. */
  key: string
  ownerIds?: readonly string[] | undefined
  adapterName?: string | undefined
}

/** Whose sandbox is wanted, and what it is to be. */
export interface AcquireInput extends LeaseOwner {
  /** Say who uses the sandbox, in which environment, for which run and purpose. */
  labels?: Readonly<Record<string, string>> | undefined
  signal?: AbortSignal | undefined
}

/** Which lease is to be resumed, and by whom. */
export interface ResumeLeaseInput extends LeaseOwner {
  sandboxId: string
  signal?: AbortSignal | undefined
}

/** What became of a lease that was to be resumed. */
export type LeaseResume =
  | { readonly kind: 'resumed'; readonly lease: DaytonaLease }
  /** `gone`: the service says that it does not exist. `mismatch`: it is not what this owner made with these options. */
  | { readonly kind: 'expired'; readonly reason: 'gone' | 'mismatch' }

/** A sandbox that one owner holds. */
export interface DaytonaLease {
  readonly sandboxId: string
  readonly workspaceRoot: string
  /** When the service will destroy it, as the service itself says; undefined without evidence. Epoch milliseconds. */
  readonly expiresAt: number | undefined
  readonly handle: SandboxBackendHandle
  readonly files: FileSync
  /** A terminal for an interactive login: a home directory of its own, kept between logins of the same command key. */
  login: (input: { commandKey: string; command: string; cols?: number; rows?: number }) => Promise<SandboxTerminal>
  openChannel: (input: DuplexChannelInput) => Promise<DuplexChannel>
  openIngress: (input: { port: number; path: string }) => Promise<IngressEndpoint>
  /** Gives the sandbox back as `afterRelease` says. Repeatable. */
  release: (afterRelease?: AfterRelease) => Promise<void>
  /** Repeatable. */
  destroy: () => Promise<void>
}

/** Sandboxes held by key, for hosts without the middleware. */
export interface DaytonaLeases {
  acquire: (input: AcquireInput) => Promise<DaytonaLease>
  /** Time-outs, refusals and outages reject and prove nothing: the lease is still the owner's. */
  resume: (input: ResumeLeaseInput) => Promise<LeaseResume>
  release: (sandboxId: string, afterRelease?: AfterRelease) => Promise<void>
  destroy: (sandboxId: string) => Promise<void>
  readonly setups: Pick<InteractiveSetups, 'start' | 'get' | 'capture' | 'cancel' | 'deleteTemplate'>
  close: () => Promise<void>
}

/**
 * Leases of a Daytona account, for callers that hold sandboxes under owners of their own. `INVALID_CONFIGURATION` names
 * every fault of the options at once.
 */
export function createDaytonaLeases(options: DaytonaOptions = {}): DaytonaLeases {
  const normalized = requireDaytonaOptions(options)
  let loaded: Promise<DaytonaLeases> | undefined
  const open = (): Promise<DaytonaLeases> =>
    (loaded ??= import('./open-leases.ts').then(({ openLeases }) => openLeases(normalized)))
  return {
    acquire: async (input) => (await open()).acquire(input),
    resume: async (input) => (await open()).resume(input),
    release: async (sandboxId, afterRelease) => (await open()).release(sandboxId, afterRelease),
    destroy: async (sandboxId) => (await open()).destroy(sandboxId),
    setups: {
      start: async (input) => (await open()).setups.start(input),
      get: async (sandboxId, more) => (await open()).setups.get(sandboxId, more),
      capture: async (sandboxId, name) => (await open()).setups.capture(sandboxId, name),
      cancel: async (sandboxId) => (await open()).setups.cancel(sandboxId),
      deleteTemplate: async (template) => (await open()).setups.deleteTemplate(template),
    },
    close: async () => (await open()).close(),
  }
}
