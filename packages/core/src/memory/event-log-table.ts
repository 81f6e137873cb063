export interface EventLogRow {
  /** JSON text of each chunk. */
  texts: string[]
  closedAt?: number
  isDeleted: boolean
  readonly readers: Set<() => void>
}

export interface EventLogTableOptions {
  closedLogs: number
  canEvict: (runId: string) => boolean
}

/** Event logs by run. A row that nobody wrote to or reads is not kept. */
export class EventLogTable {
  readonly #options: EventLogTableOptions
  readonly #rows = new Map<string, EventLogRow>()
  /** Closed logs in the order they were closed. */
  readonly #closed = new Set<string>()

  constructor(options: EventLogTableOptions) {
    this.#options = options
  }

  find(runId: string): EventLogRow | undefined {
    return this.#rows.get(runId)
  }

  /** The row of the run, made when there is none. */
  ensure(runId: string): EventLogRow {
    const row = this.#rows.get(runId) ?? { texts: [], isDeleted: false, readers: new Set() }
    this.#rows.set(runId, row)
    return row
  }

  append(runId: string, texts: readonly string[]): EventLogRow {
    const row = this.ensure(runId)
    for (const text of texts) row.texts.push(text)
    wake(row)
    return row
  }

  close(runId: string, closedAt: number): void {
    const row = this.ensure(runId)
    if (row.closedAt !== undefined) return
    row.closedAt = closedAt
    this.#closed.add(runId)
    wake(row)
    this.evict()
  }

  /** Removes the log; its readers end. */
  drop(runId: string): void {
    const row = this.#rows.get(runId)
    if (row === undefined) return
    this.#rows.delete(runId)
    this.#closed.delete(runId)
    row.isDeleted = true
    wake(row)
  }

  /** Lets go of a row that was made for a reader and never written to. */
  forgetIfUnused(runId: string): void {
    const row = this.#rows.get(runId)
    if (row === undefined || row.readers.size > 0 || row.texts.length > 0 || row.closedAt !== undefined) return
    this.#rows.delete(runId)
  }

  /** Closed logs, the first closed first. */
  closedRows(): [runId: string, row: EventLogRow][] {
    return [...this.#closed].map((runId) => [runId, this.#rows.get(runId) as EventLogRow])
  }

  /** Whether nothing of an open log would be lost with the run. */
  isEvictable(runId: string): boolean {
    const row = this.#rows.get(runId)
    return row === undefined || (row.closedAt !== undefined && row.readers.size === 0)
  }

  /** Forgets the logs that were closed first, down to the limit, where the run has ended and nobody reads. */
  evict(): void {
    for (const runId of this.#closed) {
      if (this.#closed.size <= this.#options.closedLogs) return
      if (this.#options.canEvict(runId) && this.isEvictable(runId)) this.drop(runId)
    }
  }
}

function wake(row: EventLogRow): void {
  for (const fn of row.readers) fn()
}
