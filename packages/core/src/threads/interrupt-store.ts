/** A pause that waits for a person. It outlives the host. */
export interface InterruptRecord {
  interruptId: string
  runId: string
  threadId: string
  status: 'pending' | 'resolved' | 'cancelled'
  /** Epoch milliseconds. */
  requestedAt: number
  resolvedAt?: number
  payload: Record<string, unknown>
  response?: unknown
}

/** Answers to interrupts, stored together or not at all. */
export type InterruptCommit =
  | { interruptId: string; status: 'resolved'; response?: unknown }
  | { interruptId: string; status: 'cancelled' }

/** Lists are by `requestedAt`, then by id. */
export interface InterruptStore {
  /** Stores the record unless its id exists. Repeatable. */
  create: (record: Omit<InterruptRecord, 'status' | 'resolvedAt' | 'response'>) => Promise<void>
  /** A missing or answered interrupt is a no-op. */
  resolve: (interruptId: string, response?: unknown) => Promise<void>
  /** A missing or answered interrupt is a no-op. */
  cancel: (interruptId: string) => Promise<void>
  /** All or none: `INTERRUPT_CONFLICT` when one is duplicated, missing or not pending. */
  commitBatch?: (entries: readonly InterruptCommit[]) => Promise<void>
  get: (interruptId: string) => Promise<InterruptRecord | null>
  list: (threadId: string) => Promise<InterruptRecord[]>
  listPending: (threadId: string) => Promise<InterruptRecord[]>
  listByRun: (runId: string) => Promise<InterruptRecord[]>
  listPendingByRun: (runId: string) => Promise<InterruptRecord[]>
}
