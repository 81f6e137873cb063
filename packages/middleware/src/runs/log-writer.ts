import { CorruptDataError } from '@holdfast/core'
import type { Clock, EventLog, EventLogStore } from '@holdfast/core'
import type { StreamChunk } from '@tanstack/ai'
import { retryStore } from './retry-store.ts'

/** Largest batch of one append. Keeps a row readable and a retry cheap. */
const MAX_BATCH = 128
/** Chunks waiting beyond this make the producer wait. */
const HIGH_WATER = 512

/**
 * Appends chunks in order, one append at a time: what arrives meanwhile goes into the next batch. So a lone chunk is
 * stored at once, and a flood in few statements. As the run's only writer it can tell by the log's length whether an
 * append with an unknown outcome took effect.
 */
export class LogWriter {
  readonly #log: EventLog
  readonly #logs: EventLogStore
  readonly #clock: Clock
  readonly #queue: StreamChunk[] = []
  #draining: Promise<void> | undefined
  #failure: { error: unknown } | undefined
  #length: number | undefined

  constructor(input: { log: EventLog; logs: EventLogStore; clock: Clock; isNew: boolean }) {
    this.#log = input.log
    this.#logs = input.logs
    this.#clock = input.clock
    this.#length = input.isNew ? 0 : undefined
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
      while (this.#queue.length > 0) await this.#append(this.#queue.splice(0, MAX_BATCH))
    } catch (error) {
      this.#failure = { error }
      this.#queue.length = 0
    } finally {
      // In the same step that found the queue empty: a chunk that came in between would wait for nobody.
      this.#draining = undefined
    }
  }

  async #append(batch: StreamChunk[]): Promise<void> {
    this.#length ??= await retryStore(this.#clock, () => this.#storedLength())
    const before = this.#length
    await retryStore(this.#clock, async (isRepeated) => {
      if (isRepeated && (await this.#tookEffect(before, batch.length))) return
      await this.#log.append(batch)
    })
    this.#length = before + batch.length
  }

  async #tookEffect(before: number, count: number): Promise<boolean> {
    const now = await this.#storedLength()
    if (now === before) return false
    if (now === before + count) return true
    throw new CorruptDataError('CORRUPT_DATA', `The event log of run ${this.#log.runId} grew without its writer.`)
  }

  async #storedLength(): Promise<number> {
    return (await this.#logs.find(this.#log.runId))?.length ?? 0
  }
}
