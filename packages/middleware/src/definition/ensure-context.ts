import type {
  Clock,
  LockStore,
  MetadataStore,
  SandboxHandle,
  SandboxInstanceRecord,
  SandboxInstanceStore,
} from '@holdfast/core'
import type { DefinitionLogger } from './definition-logger.ts'
import type { SandboxKeyContext } from './sandbox-key.ts'

/** Where the making of a sandbox is, for people who wait. */
export type SandboxPhase =
  | 'waiting'
  | 'resuming'
  | 'restoring'
  | 'creating'
  | 'source'
  | 'setup'
  | 'projecting'
  | 'snapshotting'
  | 'ready'

/** For a status line. `detail` is for people and holds no secret. */
export interface SandboxProgress {
  phase: SandboxPhase
  detail?: string
}

/** For which run a sandbox is wanted, and with what. */
export interface SandboxEnsureContext extends SandboxKeyContext {
  /** In memory, with a warning, when left out. */
  store?: SandboxInstanceStore
  /** In memory, with a warning, when left out. */
  locks?: LockStore
  /** Where a tenant's sandboxes are counted. In memory when left out. */
  metadata?: MetadataStore
  /** The run's signal. Ends the work; what was made is then destroyed under a signal of its own. */
  signal?: AbortSignal
  adapterName?: string
  onProgress?: (progress: SandboxProgress) => void
  clock?: Clock
  logger?: DefinitionLogger
}

/** Where the sandbox came from. `created` and `restored` ones do not hold what the thread did since. */
export type SandboxOrigin = 'resumed' | 'restored' | 'created'

/** A usable sandbox, and where it came from. */
export interface EnsuredSandbox {
  readonly handle: SandboxHandle
  readonly origin: SandboxOrigin
  /** The stored row, state `ready`. */
  readonly record: SandboxInstanceRecord
}
