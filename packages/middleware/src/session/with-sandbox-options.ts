import type { HoldfastStores, RunStore } from '@holdfast/core'
import type { RunCheckpointOptions } from '../checkpoints/run/run-checkpoint-options.ts'
import type { Tenant } from '../runs/tenant.ts'
import type { Run } from '../runs/run.ts'
import type { SandboxToken } from './sandbox-capabilities.ts'
import type { SandboxDurabilityOptions } from './sandbox-durability.ts'

interface CommonOptions {
  /** Where instances and locks are kept when the run is not durable. In memory, with a warning, when left out too. */
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

/** A run that is claimed already. */
interface ClaimedRunOptions extends CommonOptions {
  /** From `beginRun`. */
  run?: Run
  runs?: undefined
  durability?: undefined
}

/** TanStack's wiring: the run is claimed when the chat is set up. One of the pair alone is a type error. */
interface DurableChatOptions extends CommonOptions {
  run?: undefined
  /** The run store of `durability.adapter`, and the one that persistence uses. */
  runs: RunStore
  durability: SandboxDurabilityOptions
}

/**
 * The run, its stores, and what is saved of it. With neither `run` nor `durability` the run is not durable: a viewer who
 * leaves ends it and its sandbox.
 */
export type WithSandboxOptions = ClaimedRunOptions | DurableChatOptions
