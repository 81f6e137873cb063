import { createHash } from 'node:crypto'
import { daytonaHandle } from '../daytona-handle.ts'
import { FileSync } from '../archive/file-sync.ts'
import { TransferFiles } from '../fs/transfer-files.ts'
import type { AfterRelease, NormalizedDaytonaOptions } from '../options/daytona-options.ts'
import { openIngress } from '../ports/daytona-ports.ts'
import { openDuplexChannel } from '../terminal/duplex-channel.ts'
import { openTerminal } from '../terminal/open-terminal.ts'
import { InteractiveSetups } from '../templates/interactive-setup.ts'
import type { DaytonaLease, DaytonaLeases, LeaseOwner } from './daytona-leases.ts'
import type { LiveSandbox } from './live-sandbox.ts'
import { openSandboxService } from './sandbox-service.ts'
import type { SandboxService } from './sandbox-service.ts'
import { sentinelHash } from './sentinel.ts'

/** The leases of one account, with everything loaded. */
export async function openLeases(options: NormalizedDaytonaOptions): Promise<DaytonaLeases> {
  const service = await openSandboxService(options)
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
