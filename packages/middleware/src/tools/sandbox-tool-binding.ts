import type { SandboxHandle, SandboxPolicy } from '@holdfast/core'
import type { RunCheckpoints } from '../checkpoints/run/run-checkpoints.ts'
import type { SandboxScripts } from '../policy/decide-command.ts'
import type { SecretRedactor } from '../secrets/secret-redactor.ts'

/** What the sandbox tools of one run may use. */
export interface SandboxToolBinding {
  /** The run's sandbox. Throws while it is not ready. */
  readonly handle: () => SandboxHandle
  readonly policy?: SandboxPolicy
  readonly scripts?: SandboxScripts
  /** Shows a custom event at once. `batch` lets it share a durable write. */
  readonly emit: (name: string, value: Record<string, unknown>, options?: { batch?: boolean }) => void
  /** Aborts when the run does. */
  readonly signal?: AbortSignal
  /** Taken out of everything that a tool shows or returns. */
  readonly redactor?: SecretRedactor
  /** The run's checkpoints, when they are on. */
  readonly checkpoints?: () => RunCheckpoints | undefined
}
