/**
 * `intent` is written before a sandbox is created, so that a crash in the middle is found by a sweep; `ready` after;
 * `condemned` when it must not be used again but could not be destroyed yet.
 */
export type SandboxInstanceState = 'intent' | 'ready' | 'condemned'

/** Which sandbox belongs to a key. */
export interface SandboxInstanceRecord {
  /** The sandbox key. */
  key: string
  provider: string
  /** Equals `key` while the state is `intent`. */
  providerSandboxId: string
  latestSnapshotId?: string
  threadId: string
  latestRunId?: string
  /** Epoch milliseconds. */
  updatedAt: number
  state?: SandboxInstanceState
  labels?: Readonly<Record<string, string>>
}

/** One page of instance rows, oldest first. */
export interface SandboxInstanceListInput {
  provider?: string
  threadId?: string
  /** A record without a state is `ready`. */
  state?: SandboxInstanceState
  /** Only records whose `updatedAt` is earlier. Epoch milliseconds. */
  before?: number
  /** 1 … 1,000. Default 100. */
  limit?: number
  /** From the last answer's `cursor`. */
  cursor?: string
}

/** Records are copies on the way in and out. */
export interface SandboxInstanceStore {
  /** Null when there is none. */
  get: (key: string) => Promise<SandboxInstanceRecord | null>
  /** Full replace: an optional field that is left out is cleared, and absent when read. Repeatable. */
  upsert: (record: SandboxInstanceRecord) => Promise<void>
  /** A missing key is fine. */
  delete: (key: string) => Promise<void>
  /** Oldest `updatedAt` first, then by key. */
  list?: (input: SandboxInstanceListInput) => Promise<{ records: SandboxInstanceRecord[]; cursor?: string }>
}
