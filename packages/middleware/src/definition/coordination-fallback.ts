import { MemoryInstanceStore, MemoryLockStore, MemoryMetadataStore } from '@holdfast/core'
import type { LockStore, MetadataStore, SandboxInstanceStore } from '@holdfast/core'
import type { DefinitionLogger } from './definition-logger.ts'
import type { SandboxEnsureContext } from './ensure-context.ts'

/** In memory, for one process: what a definition uses where the caller gives no stores. */
export class CoordinationFallback {
  readonly #store = new MemoryInstanceStore()
  readonly #locks = new MemoryLockStore()
  readonly #metadata = new MemoryMetadataStore()
  #hasWarned = false

  store(context: SandboxEnsureContext): SandboxInstanceStore {
    if (context.store !== undefined) return context.store
    this.#warn(context.logger ?? console)
    return this.#store
  }

  locks(context: SandboxEnsureContext): LockStore {
    if (context.locks !== undefined) return context.locks
    this.#warn(context.logger ?? console)
    return this.#locks
  }

  /** Used with `maxSandboxes` alone, so that its absence is worth no warning of its own. */
  metadata(context: SandboxEnsureContext): MetadataStore {
    return context.metadata ?? this.#metadata
  }

  #warn(logger: DefinitionLogger): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    logger.warn(
      'No instance store or lock store was given, so sandboxes are tracked in this process alone: a restart forgets them, ' +
        'and two processes may make two. Pass `store` and `locks` of a durable store.',
    )
  }
}
