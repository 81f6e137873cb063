import type { StoreError } from '../errors/error-classes.ts'
import type { EventLogRow } from './event-log-table.ts'
import type { MemoryState } from './memory-state.ts'

/** Wakes one reader when its log, its signal or the store changes. */
export class LogRowWatch {
  readonly #row: EventLogRow
  readonly #signals: readonly AbortSignal[]
  readonly #forgetClose: () => void
  #failure: StoreError | undefined
  #hasChanged = false
  #resolve: (() => void) | undefined

  constructor(state: MemoryState, row: EventLogRow, signals: readonly AbortSignal[]) {
    this.#row = row
    this.#signals = signals
    row.readers.add(this.#wake)
    for (const signal of signals) signal.addEventListener('abort', this.#wake)
    this.#forgetClose = state.onClose((error) => {
      this.#failure = error
      this.#wake()
    })
  }

  /** True once the reader is to get nothing more, whatever the log still holds. Throws `STORE_CLOSED`. */
  isOver(): boolean {
    if (this.#failure !== undefined) throw this.#failure
    return this.#row.isDeleted || this.#signals.some((signal) => signal.aborted)
  }

  change(): Promise<void> {
    if (this.#hasChanged) {
      this.#hasChanged = false
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  stop(): void {
    this.#row.readers.delete(this.#wake)
    for (const signal of this.#signals) signal.removeEventListener('abort', this.#wake)
    this.#forgetClose()
  }

  readonly #wake = (): void => {
    const resolve = this.#resolve
    this.#resolve = undefined
    if (resolve === undefined) this.#hasChanged = true
    else resolve()
  }
}
