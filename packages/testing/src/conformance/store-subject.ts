import type { HoldfastStores } from '@holdfast/core'

/**
 * Stores under test, empty at first. Traits for `needs`: `concurrent` (`connect` gives stores of another connection on
 * the same data), `reopen` (the data outlives `close`), `blobs`, `artifacts`, `checkpoints`, `blobLimit` (`maxBlobBytes`
 * is set). An optional method of a contract is a need by its own name, as `instances.list`.
 */
export interface StoreSubject {
  readonly stores: HoldfastStores
  /** Moves the store's own time forward, timers of the stores included. */
  readonly advance: (ms: number) => Promise<void>
  /** Further stores on the same data, as another host would have them. The subject closes them. */
  readonly connect?: () => Promise<HoldfastStores>
  /** Closes `stores` and opens the same data again. */
  readonly reopen?: () => Promise<HoldfastStores>
  /** Largest blob that the stores take, set low so that a case can exceed it. At least 16 MiB. */
  readonly maxBlobBytes?: number
}
