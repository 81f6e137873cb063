import type { StreamChunk, StreamDurability } from '@tanstack/ai'

/** An opaque position in one run's log. Safe on an SSE line. `-1` means before the first event, `now` after the last. */
export type EventOffset = string & { readonly __eventOffset: true }

/** The offset before the first event. */
export const OFFSET_START = '-1' as EventOffset
/** The offset after everything that is stored now. */
export const OFFSET_NOW = 'now' as EventOffset

/** One stored chunk with its offset. */
export interface EventLogEntry {
  offset: EventOffset
  chunk: StreamChunk
}

/** Which run's log; with an epoch, to append under it. */
export interface EventLogOpenInput {
  runId: string
  /** The driver's epoch. Without one, an append or a close is accepted only while nobody has ever claimed the run. */
  epoch?: number
  /** What `resumeFrom()` answers; null (default) for a producer. */
  offset?: EventOffset | string | null
}

/**
 * The ordered events of one run. TanStack's `StreamDurability`, with these promises added:
 * - `append`: one atomic step, all of the batch or nothing, in commit order. `DRIVER_LOST` when the epoch is stale,
 *   `LOG_FENCED` when one is needed, `LOG_CLOSED` after `close`, `INVALID_CHUNK` for what JSON cannot keep. An empty
 *   batch is fine and gives `[]`. Not repeatable: after `STORE_OUTCOME_UNKNOWN` compare with `snapshot`.
 * - `read`: strictly after the offset, then tails across processes, and ends only on `close` or abort. A run without
 *   events waits for its first. `INVALID_OFFSET` for a malformed offset, one of another run, or one beyond the end.
 * - `snapshot`: what is stored now; `[]` for a run that was never opened.
 * - `close`: `DRIVER_LOST` when the epoch is stale, `LOG_FENCED` when one is needed and the log is open. Repeatable.
 * - Chunks come back with the same JSON text they went in with, NUL and lone surrogates included.
 */
export interface EventLog extends StreamDurability<EventOffset> {
  readonly runId: string
}

/** How far a log goes, and whether it is closed. */
export interface EventLogInfo {
  runId: string
  isClosed: boolean
  /** Number of events. */
  length: number
  /** Offset of the last event, or null when there is none. */
  tail: EventOffset | null
  /** Epoch milliseconds by the store's clock; absent while open. */
  closedAt?: number
}

/** The event logs of all runs. */
export interface EventLogStore {
  /** Local: makes no query and cannot fail but for malformed input (`INVALID_ID`, `INVALID_ARGUMENT`). */
  open: (input: EventLogOpenInput) => EventLog
  /** Null when the run has neither events nor a closed log. */
  find: (runId: string) => Promise<EventLogInfo | null>
  /** Removes logs that were closed before the time (epoch milliseconds); never an open one. Answers how many. */
  deleteBefore: (input: { closedBefore: number; limit?: number }) => Promise<number>
  /** Removes one run's log, open or closed. Its readers end. Repeatable. */
  delete: (runId: string) => Promise<void>
}
