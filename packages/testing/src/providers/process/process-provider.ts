import { defineSandboxProvider } from '@holdfast/core'
import type { Clock, SandboxProvider } from '@holdfast/core'
import type { FaultPlan } from '../../faults/fault-plan.ts'
import { withFaults } from '../../faults/with-faults.ts'
import { ProcessBackend } from './process-backend.ts'

/** Directory, faults, clock and name of the provider. */
export interface ProcessProviderOptions {
  /** Where the sandboxes live, one directory each. With it they outlive the host. A fresh temporary one when left out. */
  dir?: string
  faults?: FaultPlan
  /** For timeouts of commands and for record times. Ending processes always takes real time. */
  clock?: Clock
  /** Default `process`. */
  name?: string
}

/**
 * Sandboxes that are directories and processes of this machine. For development and tests: **it does not isolate.** A
 * command runs as the user of the host process, sees every file that this user can see, and reaches the network. Only
 * the environment is kept apart. Works on Linux and macOS; on Linux alone is `kill` known to end every descendant.
 */
export function processProvider(options: ProcessProviderOptions = {}): SandboxProvider {
  const backend = new ProcessBackend(options)
  return defineSandboxProvider(options.faults === undefined ? backend : withFaults(backend, options.faults))
}
