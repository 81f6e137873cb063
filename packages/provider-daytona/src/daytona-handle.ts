import type { SandboxBackendHandle, SandboxSnapshotRef } from '@holdfast/core'
import { DaytonaArchive } from './archive/daytona-archive.ts'
import { executeCommand } from './exec/execute-command.ts'
import { spawnCommand } from './exec/spawn-command.ts'
import { DaytonaFs } from './fs/daytona-fs.ts'
import { TransferFiles } from './fs/transfer-files.ts'
import type { LiveSandbox } from './lease/live-sandbox.ts'
import type { SandboxService } from './lease/sandbox-service.ts'
import { newNonce, templateName } from './naming.ts'
import { DaytonaAccess } from './ports/daytona-access.ts'
import { connectPort } from './ports/daytona-ports.ts'
import { takeSnapshot } from './sandbox/snapshots.ts'
import { openTerminal } from './terminal/open-terminal.ts'

/** What `defineSandboxProvider` makes a handle of. */
export function daytonaHandle(service: SandboxService, live: LiveSandbox): SandboxBackendHandle {
  const transfers = new TransferFiles(live)
  return {
    id: live.id,
    workspaceRoot: live.workspaceRoot,
    fs: new DaytonaFs(live, transfers),
    exec: (command, options) => executeCommand(live, transfers, command, options),
    spawn: (command, options) => spawnCommand(live, command, options),
    connectPort: (port) => connectPort(live, port),
    archive: new DaytonaArchive(live, transfers),
    terminal: { open: (options) => openTerminal(live, options) },
    access: new DaytonaAccess(live),
    snapshot: (label) => snapshot(live, label),
    refreshActivity: async () => {
      await live.request({ operation: 'activity refresh', isRepeatable: true }, () => live.vendor.refreshActivity())
    },
    destroy: () => service.destroy(live.id),
  }
}

async function snapshot(live: LiveSandbox, label: string | undefined): Promise<SandboxSnapshotRef> {
  const name = templateName(`holdfast-${(label ?? 'snapshot').slice(0, 48)}-${newNonce()}`)
  const id = await live.gate.pass(() => takeSnapshot(live.account, live.vendor, name))
  live.touch()
  return label === undefined ? { id } : { id, label }
}
