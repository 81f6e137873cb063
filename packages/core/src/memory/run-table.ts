import type { RunRecord } from '@tanstack/ai'
import { isTerminalRunStatus } from '@tanstack/ai'

export interface DriverRow {
  epoch: number
  owner: string
  /** When the lease ends or ended. */
  expiresAt: number
}

export interface RunTableOptions {
  finishedRuns: number
  canEvict: (runId: string) => boolean
  onEvict: (runId: string) => void
}

/** Run records with their drivers and cancel requests. */
export class RunTable {
  readonly #options: RunTableOptions
  readonly #runs = new Map<string, RunRecord>()
  readonly #byThread = new Map<string, Set<string>>()
  readonly #drivers = new Map<string, DriverRow>()
  readonly #keepSandbox = new Set<string>()
  readonly #cancelWaiters = new Map<string, Set<() => void>>()
  /** Ended runs in the order they ended. */
  readonly #finished = new Set<string>()

  constructor(options: RunTableOptions) {
    this.#options = options
  }

  find(runId: string): RunRecord | undefined {
    return this.#runs.get(runId)
  }

  all(): RunRecord[] {
    return [...this.#runs.values()]
  }

  ofThread(threadId: string): RunRecord[] {
    return [...(this.#byThread.get(threadId) ?? [])].map((runId) => this.#runs.get(runId) as RunRecord)
  }

  /** Stores a record that nobody else holds a reference to. */
  save(record: RunRecord): void {
    const { runId, threadId } = record
    this.#runs.set(runId, record)
    const siblings = this.#byThread.get(threadId)
    if (siblings === undefined) this.#byThread.set(threadId, new Set([runId]))
    else siblings.add(runId)
    if (record.cancelRequested === true) this.#wake(runId)
    else this.#keepSandbox.delete(runId)
    if (!isTerminalRunStatus(record.status)) this.#finished.delete(runId)
    else this.#finished.add(runId)
    this.evict()
  }

  findDriver(runId: string): DriverRow | undefined {
    return this.#drivers.get(runId)
  }

  saveDriver(runId: string, driver: DriverRow): void {
    this.#drivers.set(runId, driver)
  }

  isHolding(run: RunRecord): boolean {
    return run.status === 'running' && this.#drivers.has(run.runId)
  }

  keepsSandbox(runId: string): boolean {
    return this.#keepSandbox.has(runId)
  }

  keepSandbox(runId: string): void {
    this.#keepSandbox.add(runId)
  }

  /** Calls `fn` when a cancel is stored for the run. Returns a function that forgets it. */
  onCancel(runId: string, fn: () => void): () => void {
    const waiters = this.#cancelWaiters.get(runId) ?? new Set()
    this.#cancelWaiters.set(runId, waiters.add(fn))
    return () => {
      waiters.delete(fn)
      if (waiters.size === 0 && this.#cancelWaiters.get(runId) === waiters) this.#cancelWaiters.delete(runId)
    }
  }

  delete(runId: string): void {
    const record = this.#runs.get(runId)
    if (record === undefined) return
    const siblings = this.#byThread.get(record.threadId)
    siblings?.delete(runId)
    if (siblings?.size === 0) this.#byThread.delete(record.threadId)
    this.#runs.delete(runId)
    this.#drivers.delete(runId)
    this.#keepSandbox.delete(runId)
    this.#finished.delete(runId)
  }

  /** Forgets the runs that ended first, down to the limit. */
  evict(): void {
    for (const runId of this.#finished) {
      if (this.#finished.size <= this.#options.finishedRuns) return
      if (!this.#options.canEvict(runId)) continue
      this.delete(runId)
      this.#options.onEvict(runId)
    }
  }

  #wake(runId: string): void {
    for (const fn of this.#cancelWaiters.get(runId) ?? []) fn()
  }
}
