import type { SandboxCreateInput, SandboxHandle, SandboxProvider } from '@holdfast/core'

/**
 * What a provider may lack that no capability names. A target gives a reason for each that it lacks:
 * - `connect`: the subject has `connect`.
 * - `faults`: the subject has `faults`.
 * - `httpServer`: the subject has `httpServerCommand`.
 * - `list`, `park`, `probe`: the provider has the method. `chmod`, `watch`: the handle's `fs` has it.
 * - `git`: git is installed in the sandbox.
 * - `jobs`: `&` starts a job of its own, and `wait` waits for it.
 * - `signals`: `kill` and `trap` work in the shell.
 * - `liveOutput`: output arrives while the command runs.
 * - `bytesOutput`: output that is no valid UTF-8 reaches the decoder as bytes.
 * - `specialFiles`: `mkfifo` is there.
 * - `procfs`: `/proc` shows command lines.
 * - `confinedLinks`: file calls do not follow links out of the workspace.
 */
export const PROVIDER_TRAITS = [
  'connect',
  'faults',
  'httpServer',
  'list',
  'park',
  'probe',
  'chmod',
  'watch',
  'git',
  'jobs',
  'signals',
  'liveOutput',
  'bytesOutput',
  'specialFiles',
  'procfs',
  'confinedLinks',
] as const

/** One of `PROVIDER_TRAITS`. */
export type ProviderTrait = (typeof PROVIDER_TRAITS)[number]

/** Makes the way to the provider's service fail. */
export interface ProviderFaults {
  /** While it is on, no request reaches the service. */
  setOutage: (isOn: boolean) => void | Promise<void>
  /** The next request of this kind is done, but its answer does not arrive. */
  loseNextReply: (operation: 'create' | 'destroy') => void | Promise<void>
}

/** A provider under test. What it makes is destroyed when the subject is let go of. */
export interface ProviderSubject {
  readonly provider: SandboxProvider
  /** A fresh sandbox. */
  readonly create: (input?: SandboxCreateInput) => Promise<SandboxHandle>
  /** Another provider object on the same service, as another host has it. */
  readonly connect?: () => Promise<SandboxProvider>
  readonly faults?: ProviderFaults
  /** A command that serves HTTP on the port and answers every request with `hello`. */
  readonly httpServerCommand?: (port: number) => string
}
