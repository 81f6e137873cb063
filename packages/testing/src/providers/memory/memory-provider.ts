import { defineSandboxProvider } from '@holdfast/core'
import type { Clock, SandboxProvider } from '@holdfast/core'
import type { FaultPlan } from '../../faults/fault-plan.ts'
import { withFaults } from '../../faults/with-faults.ts'
import { MemoryBackend } from './memory-backend.ts'

/** Faults, clock and name of the provider. */
export interface MemoryProviderOptions {
  faults?: FaultPlan
  /** For timeouts, `sleep` in commands, and record times. */
  clock?: Clock
  /** Default `memory`. */
  name?: string
}

/**
 * Sandboxes in memory: files, and a shell interpreted by just-bash with its own commands. Starts no process, so it is
 * fast and safe in unit tests. No jobs in the background (`&`), no signals, no git, no programs of the machine.
 */
export function memoryProvider(options: MemoryProviderOptions = {}): SandboxProvider {
  const backend = new MemoryBackend(options)
  return defineSandboxProvider(options.faults === undefined ? backend : withFaults(backend, options.faults))
}
