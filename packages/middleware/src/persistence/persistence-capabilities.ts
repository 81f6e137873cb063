import type { HoldfastStores, InterruptStore } from '@holdfast/core'
import { createCapability } from '@tanstack/ai'

/** The stores that `withPersistence` was given, so that others can check they use the same. */
export const PersistenceCapability = createCapability<HoldfastStores>()('holdfast-persistence')

/** Token of the interrupt store, TanStack's name for it. */
export const InterruptsCapability = createCapability<InterruptStore>()('holdfast-interrupts')

/** What waits for a run's transcript to be stored. */
export interface RunCompletion {
  /** Resolves once the transcript of this run is stored; rejects with the run's error or the reason of its stop. */
  waitForRunCompletion: () => Promise<void>
}

/** Token of what waits for a run's transcript to be stored. */
export const CompletionCapability = createCapability<RunCompletion>()('holdfast-completion')
