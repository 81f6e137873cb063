import type { SandboxHandle } from '@holdfast/core'
import type { SandboxFileHookEvent } from '@tanstack/ai'

/** Called after files of the sandbox changed during a run. */
export interface SandboxFileHooks {
  /** Every file event. Called before the one for its type. A hook that throws is logged; the run goes on. */
  onFile?: (event: SandboxFileHookEvent) => void | Promise<void>
  onFileCreate?: (event: SandboxFileHookEvent) => void | Promise<void>
  onFileChange?: (event: SandboxFileHookEvent) => void | Promise<void>
  onFileDelete?: (event: SandboxFileHookEvent) => void | Promise<void>
}

/** Called at points of a sandbox's life. */
export interface SandboxHooks extends SandboxFileHooks {
  /** The sandbox can be used. */
  onReady?: (handle: SandboxHandle) => void | Promise<void>
  /** The run failed. */
  onError?: (error: unknown) => void | Promise<void>
  /** The sandbox is gone for good. */
  onDestroy?: () => void | Promise<void>
}
