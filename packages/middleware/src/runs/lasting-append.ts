import { CorruptDataError } from '@holdfast/core'
import type { Clock, EventLog, EventLogStore, EventOffset } from '@holdfast/core'
import type { StreamChunk } from '@tanstack/ai'
import { retryStore } from './retry-store.ts'

/**
 * Appends batches, one at a time, also when the store is away for a while. As the run's only writer it can tell by the
 * log's length whether an append with an unknown outcome took effect.
 */
export class LastingAppend {
  readonly #log: EventLog
  readonly #logs: EventLogStore
  readonly #clock: Clock
  #length: number | undefined

  constructor(input: { log: EventLog; logs: EventLogStore; clock: Clock; isNew: boolean }) {
    this.#log = input.log
    this.#logs = input.logs
    this.#clock = input.clock
    this.#length = input.isNew ? 0 : undefined
  }

  async append(batch: StreamChunk[]): Promise<EventOffset[]> {
    this.#length ??= await retryStore(this.#clock, () => this.#storedLength())
    const before = this.#length
    const offsets = await retryStore(this.#clock, async (isRepeated) => {
      const stored = isRepeated ? await this.#offsetsAfter(before, batch.length) : undefined
      return stored ?? this.#log.append(batch)
    })
    this.#length = before + batch.length
    return offsets
  }

  /** Undefined when the batch is not stored. */
  async #offsetsAfter(before: number, count: number): Promise<EventOffset[] | undefined> {
    const now = await this.#storedLength()
    if (now === before) return undefined
    if (now !== before + count) {
      throw new CorruptDataError('CORRUPT_DATA', `The event log of run ${this.#log.runId} grew without its writer.`)
    }
    return (await this.#log.snapshot()).slice(before).map(({ offset }) => offset)
  }

  async #storedLength(): Promise<number> {
    return (await this.#logs.find(this.#log.runId))?.length ?? 0
  }
}
