import type { SandboxAccess } from './sandbox-access.ts'
import type { SandboxArchive } from './sandbox-archive.ts'
import type { SandboxCapabilities } from './sandbox-capabilities.ts'
import type { SandboxFileStat, SandboxFs } from './sandbox-fs.ts'
import type { SandboxGit } from './sandbox-git.ts'
import type { SandboxChannel } from './sandbox-ports.ts'
import type {
  SandboxExecOptions,
  SandboxExecResult,
  SandboxProcessOptions,
  SandboxSpawnHandle,
} from './sandbox-process.ts'
import type { SandboxSnapshotRef } from './sandbox-handle.ts'
import type {
  SandboxCreateInput,
  SandboxDestroyInput,
  SandboxProvider,
  SandboxRestoreInput,
  SandboxResumeInput,
} from './sandbox-provider.ts'
import type { SandboxTerminals } from './sandbox-terminal.ts'

/** Files as a backend gives them: every path is absolute, real, normalised and inside the workspace. */
export interface SandboxBackendFs extends Omit<SandboxFs, 'read' | 'write' | 'lstat'> {
  write: (path: string, data: Uint8Array) => Promise<void>
  lstat: (path: string) => Promise<SandboxFileStat | undefined>
}

/**
 * One sandbox as its author gives it. `defineSandboxProvider` has already checked arguments, mapped paths, merged
 * variables and refused closed handles, so none of that is repeated here.
 */
export interface SandboxBackendHandle {
  readonly id: string
  /** The real directory that `/workspace` stands for. */
  readonly workspaceRoot: string
  readonly fs: SandboxBackendFs
  /** `cwd` is real and absolute, `env` is complete, `stdin` is bytes. */
  exec: (
    command: string,
    options: SandboxExecOptions & { cwd: string; env: Record<string, string>; stdin: Uint8Array },
  ) => Promise<SandboxExecResult>
  spawn: (
    command: string,
    options: SandboxProcessOptions & { cwd: string; env: Record<string, string> },
  ) => Promise<SandboxSpawnHandle>
  connectPort?: (port: number) => Promise<SandboxChannel>
  /** Replaces the git commands that `exec` would run. */
  readonly git?: SandboxGit
  /** `pack` gets normalised names relative to the workspace root, `.` for the root itself. */
  readonly archive?: SandboxArchive
  /** `open` gets a real, absolute `cwd` and a complete `env`. */
  readonly terminal?: SandboxTerminals
  readonly access?: SandboxAccess
  snapshot?: (label?: string) => Promise<SandboxSnapshotRef>
  fork?: () => Promise<SandboxBackendHandle>
  refreshActivity?: () => Promise<void>
  destroy: () => Promise<void>
}

/** What a provider author writes. */
export interface SandboxBackend extends Pick<
  SandboxProvider,
  'name' | 'list' | 'park' | 'templates' | 'probe' | 'close'
> {
  capabilities: () => SandboxCapabilities
  create: (input: SandboxCreateInput) => Promise<SandboxBackendHandle>
  resume: (input: SandboxResumeInput) => Promise<SandboxBackendHandle | null>
  restoreSnapshot?: (input: SandboxRestoreInput) => Promise<SandboxBackendHandle>
  destroy: (input: SandboxDestroyInput) => Promise<void>
  /**
   * Turns a vendor's error into a Holdfast error. Called for every rejection that is not one already and not an abort.
   * The default gives `PROVIDER_FAILED` with the original as cause.
   */
  mapError?: (error: unknown, operation: string) => unknown
}
