import type { RunError, RunRecord, TerminalRunStatus } from '@tanstack/ai'

/** What a write must name so that the store can refuse it once another driver took over. */
export interface WriteFence {
  runId: string
  epoch: number
}

/** Which run a host wants to drive, and for how long without a renewal. */
export interface DriverClaimInput {
  runId: string
  threadId: string
  /** Who claims: unique per process start. The same owner may claim again while its lease is live. */
  owner: string
  ttlMs: number
  sandboxKey?: string
  /**
   * `drive` (default) refuses a run whose cancel was requested. `finalize` accepts it, because somebody must write the
   * terminal status.
   */
  purpose?: 'drive' | 'finalize'
}

/** What a host holds after it claimed a run. */
export interface DriverClaim {
  /** 1 for the first claim of a run, one more for each later one. */
  epoch: number
  /** Epoch milliseconds by the store's clock. */
  expiresAt: number
  /** True when this claim made the run record. */
  created: boolean
}

/** How a run ended, with the epoch that may say so. */
export interface DriverFinishInput extends WriteFence {
  /** `interrupted` ends the hold but not the run: it pauses for a person, and gets no `finishedAt`. */
  status: TerminalRunStatus | 'interrupted'
  error?: RunError
  usage?: RunRecord['usage']
}

/** Who drives a run, or was the last to. For operators and reapers. */
export interface DriverInfo {
  runId: string
  epoch: number
  owner: string
  /** When the lease ends or ended. Epoch milliseconds by the store's clock. */
  expiresAt: number
  /** The run is `running` and the lease has not ended, by the store's clock. */
  isLive: boolean
}

/** Which runs a list is to give. What is left out does not narrow it. */
export interface RunListInput {
  threadId?: string
  /**
   * Only runs of threads of this owner (see `ThreadStore`); a run whose thread has no record belongs to nobody. A store
   * that ignores it shows one tenant the runs of another.
   */
  ownerId?: string
  status?: RunRecord['status']
  /** 1 … 1,000. */
  limit: number
}

/** A Stop that was asked for and is not carried out yet. */
export interface CancelRequest {
  runId: string
  keepSandbox: boolean
}

/**
 * Who drives a run. A thread is held by at most one run: the one whose record is `running` and that has been claimed.
 * That is a constraint of the store, not a check before a write. Time is the store's own.
 *
 * Every method rejects with `INVALID_ID` or `INVALID_ARGUMENT` for malformed input and `STORE_CLOSED` after `close`.
 */
export interface DriverStore {
  /**
   * One atomic step: makes the record if there is none, and raises the epoch. A refused claim leaves nothing behind.
   * Refusals, in this order: `RUN_CONFLICT` (the id is another thread's), `RUN_TERMINAL`, `RUN_CANCELLED` (not for
   * `finalize`), `DRIVER_HELD` (a live lease of another owner), `THREAD_BUSY` (another run holds the thread;
   * `details.orphaned` is true when its lease has expired). Clears `detachedSince`. Sets the record's `driverEpoch`,
   * its status to `running`, and `sandboxKey` when given.
   */
  claim: (input: DriverClaimInput) => Promise<DriverClaim>
  /** Extends the lease. `DRIVER_LOST` when superseded or when the run has ended. An expired lease nobody took is renewed. */
  renew: (input: WriteFence & { ttlMs: number }) => Promise<{ expiresAt: number }>
  /** Ends the lease at once without ending the run, for a clean shutdown. Repeatable; a stale epoch changes nothing. */
  release: (input: WriteFence) => Promise<void>
  /**
   * Notes that the last viewer left: sets `detachedSince` to the store's time if it is not set. False, and no change,
   * when superseded or ended. Repeatable.
   */
  detach: (input: WriteFence & { sandboxKey?: string }) => Promise<boolean>
  /**
   * Writes the end of this driver's work and frees lease and thread. False, and no change, for a stale epoch or a run
   * that has ended: repeating it is safe, and the first result stands.
   */
  finish: (input: DriverFinishInput) => Promise<boolean>
  /**
   * Runs with status `running`, claimed at least once, not detached, whose lease ended more than `graceMs` ago (a
   * released lease ended when it was released). Oldest end first. `now` defaults to the store's time.
   */
  listOrphaned: (input: { now?: number; graceMs: number; limit: number }) => Promise<RunRecord[]>
  /** Newest first: the runs that fit all that is named, and of these at most `limit`. */
  list: (input: RunListInput) => Promise<RunRecord[]>
  /** The drivers of these runs, in no particular order; a run that was never claimed is left out. At most 1,000 runs. */
  findDrivers?: (input: { runIds: readonly string[] }) => Promise<DriverInfo[]>
  /** Records that a person wants the run to end, and wakes its driver. An unknown or ended run is a no-op. Repeatable. */
  requestCancel: (input: { runId: string; keepSandbox?: boolean }) => Promise<void>
  /**
   * Resolves once cancel is requested for the run, also when it was before the call: within 1 s where the store can
   * notify, else within 2 s. Rejects with `signal.reason` when the signal aborts. An idle wait makes no query more often
   * than once in 10 s where the store can notify.
   */
  onCancel: (runId: string, signal: AbortSignal) => Promise<CancelRequest>
  /** The request if there is one, else null. */
  findCancel: (runId: string) => Promise<CancelRequest | null>
}
