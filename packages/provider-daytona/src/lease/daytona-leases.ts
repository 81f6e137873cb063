import { createHash } from 'node:crypto'
import type { SandboxBackendHandle, SandboxTerminal } from '@holdfast/core'
import { daytonaHandle } from '../daytona-handle.ts'
import { FileSync } from '../archive/file-sync.ts'
import { TransferFiles } from '../fs/transfer-files.ts'
import type { AfterRelease, DaytonaOptions } from '../options/daytona-options.ts'
import { requireDaytonaOptions } from '../options/validate-options.ts'
import { openIngress } from '../ports/daytona-ports.ts'
import type { IngressEndpoint } from '../ports/daytona-ports.ts'
import { openDuplexChannel } from '../terminal/duplex-channel.ts'
import type { DuplexChannel, DuplexChannelInput } from '../terminal/duplex-channel.ts'
import { openTerminal } from '../terminal/open-terminal.ts'
import { InteractiveSetups } from '../templates/interactive-setup.ts'
import type { LiveSandbox } from './live-sandbox.ts'
import { SandboxService } from './sandbox-service.ts'
import { sentinelHash } from './sentinel.ts'

/** Who a lease is for. The ids stay the same for as long as the lease may be resumed. */
export interface LeaseOwner {
  /** The lease's own key: the sandbox's name comes from it. */
  key: string
  ownerIds?: readonly string[] | undefined
  adapterName?: string | undefined
}

export interface AcquireInput extends LeaseOwner {
  /** Say who uses the sandbox, in which environment, for which run and purpose. */
  labels?: Readonly<Record<string, string>> | undefined
  signal?: AbortSignal | undefined
}

export interface ResumeLeaseInput extends LeaseOwner {
  sandboxId: string
  signal?: AbortSignal | undefined
}

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

export interface DaytonaLeases {
  acquire: (input: AcquireInput) => Promise<DaytonaLease>
  /** Time-outs, refusals and outages reject and prove nothing: the lease is still the owner's. */
  resume: (input: ResumeLeaseInput) => Promise<LeaseResume>
  release: (sandboxId: string, afterRelease?: AfterRelease) => Promise<void>
  destroy: (sandboxId: string) => Promise<void>
  readonly setups: InteractiveSetups
  close: () => Promise<void>
}

/** Leases of a Daytona account, for callers that hold sandboxes under owners of their own. */
export function createDaytonaLeases(options: DaytonaOptions = {}): DaytonaLeases {
  const service = new SandboxService(requireDaytonaOptions(options))
  const release = (sandboxId: string, afterRelease?: AfterRelease): Promise<void> =>
    releaseSandbox(service, sandboxId, afterRelease ?? service.account.options.afterRelease)
  return {
    acquire: async (input) => {
      const { key, labels, adapterName, signal } = input
      const live = await service.openNew({ key, labels, owner: ownerOf(input), adapterName, signal })
      return leaseOf(service, live, release)
    },
    resume: async (input) => {
      const owner = ownerOf(input)
      const sentinel = sentinelHash(service.account.options, { owner, adapterName: input.adapterName })
      const { sandboxId, signal } = input
      const outcome = await service.resume({ sandboxId, owner: sentinel, sentinel, signal })
      if (outcome.kind === 'live') return { kind: 'resumed', lease: leaseOf(service, outcome.live, release) }
      return { kind: 'expired', reason: outcome.kind === 'gone' ? 'gone' : 'mismatch' }
    },
    release,
    destroy: (sandboxId) => service.destroy(sandboxId),
    setups: new InteractiveSetups(service),
    close: () => service.close(),
  }
}

function ownerOf(input: LeaseOwner): string[] {
  return [input.key, ...(input.ownerIds ?? [])]
}

async function releaseSandbox(service: SandboxService, sandboxId: string, afterRelease: AfterRelease): Promise<void> {
  if (afterRelease === 'keep') return service.letGo(sandboxId)
  if (afterRelease === 'destroy') return service.destroy(sandboxId)
  return service.parkOrDestroy(sandboxId, afterRelease)
}

function leaseOf(service: SandboxService, live: LiveSandbox, release: DaytonaLeases['release']): DaytonaLease {
  return {
    sandboxId: live.id,
    workspaceRoot: live.workspaceRoot,
    expiresAt: epochMs(live.vendor.autoDestroyAt),
    handle: daytonaHandle(service, live),
    files: new FileSync(live, new TransferFiles(live)),
    login: async ({ commandKey, command, ...size }) => {
      const home = `${live.stateDir}/login/${createHash('sha256').update(commandKey).digest('hex').slice(0, 16)}`
      const script = `mkdir -p "$HOME" && chmod 700 "$HOME" && { ${command}\n}`
      return openTerminal(live, { command: script, env: { HOME: home }, ...size })
    },
    openChannel: (input) => openDuplexChannel(live, input),
    openIngress: ({ port, path }) => openIngress(live, port, path),
    release: (afterRelease) => release(live.id, afterRelease),
    destroy: () => service.destroy(live.id),
  }
}

function epochMs(text: string | undefined): number | undefined {
  const value = Date.parse(text ?? '')
  return Number.isNaN(value) ? undefined : value
}
