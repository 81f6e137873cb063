import type { RunRecord } from '@tanstack/ai'
import { systemClock } from '../clock.ts'
import type { Clock } from '../clock.ts'
import type { ArtifactRecord } from '../content/artifact-store.ts'
import type { BlobRecord } from '../content/blob-store.ts'
import { StoreError } from '../errors/error-classes.ts'
import type { SandboxInstanceRecord } from '../sandbox/sandbox-instance-store.ts'
import type { InterruptRecord } from '../threads/interrupt-store.ts'
import type { ThreadRecord } from '../threads/thread-store.ts'
import { CheckpointTable } from './checkpoint-table.ts'
import { EventLogTable } from './event-log-table.ts'
import { RunTable } from './run-table.ts'

/** How much of what has ended is kept in memory. */
export interface MemoryRetention {
  /** How many closed event logs of runs that no longer run are kept. Default 200. */
  closedLogs?: number
  /** How many ended runs are kept. Default 2,000. */
  finishedRuns?: number
}

/** Clock and retention of the records that in-memory stores share. */
export interface MemoryStateOptions {
  clock?: Clock
  /** What a long-lived process keeps; the oldest go first. An open log is never touched. */
  retention?: MemoryRetention
}

export interface MemoryBlob {
  record: BlobRecord
  bytes: Uint8Array
  /** When it was last stored, asked for or named. What was touched lately is not collected. */
  touchedAt: number
}

const DEFAULT_CLOSED_LOGS = 200
const DEFAULT_FINISHED_RUNS = 2_000

/** What the memory stores of one process share. Values inside are never handed out: stores copy on the way in and out. */
export class MemoryState {
  readonly clock: Clock
  readonly runs: RunTable
  readonly logs: EventLogTable
  readonly checkpoints = new CheckpointTable()
  readonly threads = new Map<string, ThreadRecord>()
  /** JSON text of each thread's messages. */
  readonly messages = new Map<string, string>()
  readonly interrupts = new Map<string, InterruptRecord>()
  readonly metadata = new Map<string, string>()
  readonly instances = new Map<string, SandboxInstanceRecord>()
  readonly artifacts = new Map<string, ArtifactRecord>()
  readonly blobs = new Map<string, MemoryBlob>()
  #isClosed = false
  readonly #onClose = new Set<(error: StoreError) => void>()

  constructor(options: MemoryStateOptions = {}) {
    this.clock = options.clock ?? systemClock
    const { closedLogs = DEFAULT_CLOSED_LOGS, finishedRuns = DEFAULT_FINISHED_RUNS } = options.retention ?? {}
    this.runs = new RunTable({
      finishedRuns,
      canEvict: (runId) => this.logs.isEvictable(runId),
      onEvict: (runId) => this.logs.drop(runId),
    })
    this.logs = new EventLogTable({ closedLogs, canEvict: (runId) => this.runs.find(runId)?.status !== 'running' })
  }

  /** Throws `STORE_CLOSED` after `close`. */
  assertOpen(): void {
    if (this.#isClosed) throw closedError()
  }

  /** Calls `fn` when the stores close. Returns a function that forgets it. */
  onClose(fn: (error: StoreError) => void): () => void {
    this.#onClose.add(fn)
    return () => this.#onClose.delete(fn)
  }

  /** Fails whoever waits. Repeatable. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const fn of this.#onClose) fn(closedError())
    this.#onClose.clear()
  }

  /** The run that holds the thread: `running`, and claimed at least once. */
  findHolder(threadId: string): RunRecord | undefined {
    return this.runs.ofThread(threadId).find((run) => this.runs.isHolding(run))
  }
}

function closedError(): StoreError {
  return new StoreError('STORE_CLOSED', 'The memory stores were closed. Create new ones.')
}
