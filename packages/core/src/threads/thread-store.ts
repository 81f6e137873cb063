/** A conversation and whom it belongs to. */
export interface ThreadRecord {
  threadId: string
  /** The tenant's key, as `authorize` gave it. */
  ownerId: string
  title?: string
  /** Epoch milliseconds by the store's clock. */
  createdAt: number
  updatedAt: number
}

/** One page of an owner's threads, newest first. */
export interface ThreadListInput {
  ownerId: string
  /** 1 … 1,000. Default 100. */
  limit?: number
  cursor?: string
}

/** Ids alone prove nothing: every method that takes an owner treats a foreign thread as missing. */
export interface ThreadStore {
  /** Makes the thread or returns it. `THREAD_NOT_FOUND` when it belongs to another owner. Repeatable. */
  ensure: (input: { threadId: string; ownerId: string; title?: string }) => Promise<ThreadRecord>
  /** Null when it is missing, or foreign to the given owner. */
  find: (threadId: string, ownerId?: string) => Promise<ThreadRecord | null>
  /** Newest `updatedAt` first. */
  list: (input: ThreadListInput) => Promise<{ threads: ThreadRecord[]; cursor?: string }>
  /** Sets the title and `updatedAt`. An unknown thread is a no-op. */
  rename: (threadId: string, title: string) => Promise<void>
  /** Moves `updatedAt` to now. An unknown thread is a no-op. */
  touch: (threadId: string) => Promise<void>
  /**
   * Removes all rows that the thread owns: messages, runs, drivers, event logs, interrupts, artifacts, checkpoints and
   * their leases. Instance rows stay until their sandbox is destroyed, so that none is lost from sight. `THREAD_BUSY`
   * while a run holds the thread. Repeatable.
   */
  delete: (threadId: string) => Promise<void>
}
