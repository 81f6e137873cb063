import type { HoldfastStores } from '@holdfast/core'
import type { RunCheckpointOptions } from '../checkpoints/run/run-checkpoint-options.ts'
import type { Tenant } from '../runs/tenant.ts'
import type { Run } from '../runs/run.ts'
import type { SandboxToken } from './sandbox-capabilities.ts'

/** The run, its stores, and what is saved of it. */
export interface WithSandboxOptions {
  /** From `beginRun`. Without it the run is not durable: a viewer who leaves ends it and its sandbox. */
  run?: Run
  /** Where instances and locks are kept when there is no `run`. In memory, with a warning, when left out too. */
  stores?: Pick<HoldfastStores, 'instances' | 'locks'> & Partial<Pick<HoldfastStores, 'metadata'>>
  /** Part of the sandbox key. Taken from `run` when there is one. */
  tenant?: Tenant
  /** Publishes the same handle under other packages' tokens, so that their adapters find it. */
  alsoProvide?: readonly SandboxToken[]
  /**
   * Saves workspace, conversation and artifacts, and restores the latest checkpoint into a sandbox that does not come from
   * it. Needs `withPersistence` with the same stores, before this one. Off when left out.
   */
  checkpoints?: RunCheckpointOptions
}
