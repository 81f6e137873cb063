import type { SandboxAccess } from './sandbox-access.ts'
import type { SandboxArchive } from './sandbox-archive.ts'
import type { SandboxCapabilities } from './sandbox-capabilities.ts'
import type { SandboxFs } from './sandbox-fs.ts'
import type { SandboxGit } from './sandbox-git.ts'
import type { SandboxEnv, SandboxPorts } from './sandbox-ports.ts'
import type { SandboxProcess } from './sandbox-process.ts'
import type { SandboxTerminals } from './sandbox-terminal.ts'

/** The vendor's name for a disk image. */
export interface SandboxSnapshotRef {
  id: string
  label?: string
}

/**
 * A live object for one sandbox. After `destroy` every other call rejects with `SANDBOX_CLOSED`. An optional group is
 * present exactly when its capability is true.
 */
export interface SandboxHandle {
  /** The provider's id for the sandbox: what `resume` and `destroy` of the provider take. */
  readonly id: string
  readonly provider: string
  /** The real directory behind `/workspace`, as commands see it. */
  readonly workspaceRoot?: string
  readonly capabilities: SandboxCapabilities
  readonly fs: SandboxFs
  readonly git: SandboxGit
  readonly process: SandboxProcess
  readonly ports: SandboxPorts
  readonly env: SandboxEnv
  readonly archive?: SandboxArchive
  readonly terminal?: SandboxTerminals
  readonly access?: SandboxAccess
  /** The vendor's own disk image, confirmed by reading it back. */
  snapshot?: (label?: string) => Promise<SandboxSnapshotRef>
  /** An independent copy of the sandbox as it is now. */
  fork?: () => Promise<SandboxHandle>
  /** Tells the service that the sandbox is in use, where it would otherwise stop it. Repeatable. */
  refreshActivity?: () => Promise<void>
  /** Removes the sandbox with its files and processes. Repeatable; rejects when it could not. */
  destroy: () => Promise<void>
}
