/** Which checkpoints stay. A thread's head always does. */
export interface CheckpointRetention {
  /** How many of the newest of each thread stay. */
  keepLast?: number
  /** Whether those that a person named stay. Default true. */
  keepNamed?: boolean
  /** Younger ones stay. */
  maxAgeMs?: number
}

/** What may go. */
export interface StorePruneInput {
  /** A checkpoint stays when it is the head of its thread or when one of the given rules keeps it. */
  checkpoints?: CheckpointRetention
  /**
   * Bytes of checkpoints and artifacts that nothing names, and that nobody stored, asked for or named for this long. At
   * least 600,000, because a save in progress needs that long.
   */
  blobs?: { graceMs: number }
  dryRun?: boolean
}

/** What went, or with `dryRun` would have gone. */
export interface StorePruneResult {
  checkpoints: number
  blobs: number
  blobBytes: number
}

/** What an operator does with the stores. */
export interface StoreMaintenance {
  /** Removes what the rules do not keep. With `dryRun` it removes nothing and answers what it would have removed. */
  prune: (input: StorePruneInput) => Promise<StorePruneResult>
}
