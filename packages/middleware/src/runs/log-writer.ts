import type { Clock, EventLog, EventLogStore } from '@holdfast/core'
import type { StreamChunk } from '@tanstack/ai'
import { LastingAppend } from './lasting-append.ts'

/** Largest batch of one append. Keeps a row readable and a retry cheap. */
const MAX_BATCH = 128
/** Chunks waiting beyond this make the producer wait. */
const HIGH_WATER = 512

/**
 * Appends chunks in order, one append at a time: what arrives meanwhile goes into the next batch. So a lone chunk is
 * stored at once, and a flood in few statements.
 */
export class LogWriter {
  readonly #appends: LastingAppend
  readonly #queue: StreamChunk[] = []
  #draining: Promise<void> | undefined
  #failure: { error: unknown } | undefined

  constructor(input: { log: EventLog; logs: EventLogStore; clock: Clock; isNew: boolean }) {
    this.#appends = new LastingAppend(input)
  }

  /** Takes a chunk. Resolves at once, or when there is room. Rejects with the failure of an earlier append. */
  async push(chunk: StreamChunk): Promise<void> {
    this.#throwFailure()
    this.#queue.push(chunk)
    this.#start()
    if (this.#queue.length >= HIGH_WATER) await this.flush()
  }

  /** Resolves when everything taken so far is stored. */
  async flush(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining
    this.#throwFailure()
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }

  #start(): void {
    this.#draining ??= this.#drain()
  }

  async #drain(): Promise<void> {
    try {
      while (this.#queue.length > 0) await this.#appends.append(this.#queue.splice(0, MAX_BATCH))
    } catch (error) {
      this.#failure = { error }
      this.#queue.length = 0
    } finally {
      // In the same step that found the queue empty: a chunk that came in between would wait for nobody.
      this.#draining = undefined
    }
  }
}
