import { isHoldfastError, systemClock } from '@holdfast/core'
import type { Clock, EventLog, EventLogEntry, EventOffset, HoldfastStores } from '@holdfast/core'
import type { StreamChunk } from '@tanstack/ai'
import type { DurableLog } from './durable-log.ts'
import type { Run } from './run.ts'

/** A symbol of the registry: a bundler may load this module twice, and both copies mean the same. */
const BRAND = Symbol.for('@holdfast/middleware/late-bound-log')

/** Refusals that no later append can undo. */
const FINAL_CODES = ['DRIVER_LOST', 'LOG_FENCED', 'LOG_CLOSED'] as const

/**
 * A log that a response begins to write before its run is claimed. It is nobody's until `bind`, and never this request's
 * after `refuse`: then it says why to every append, and closes nothing that belongs to another request.
 */
export class LateBoundLog implements DurableLog {
  readonly [BRAND] = true
  readonly runId: string
  readonly stores: HoldfastStores
  readonly clock: Clock
  readonly #unclaimed: EventLog
  #claimed: EventLog | undefined
  #failure: { error: unknown } | undefined
  #wasRefused = false
  #isProducing = false

  constructor(input: { stores: HoldfastStores; clock: Clock | undefined; runId: string; offset: string | null }) {
    const { stores, clock = systemClock, runId, offset } = input
    this.runId = runId
    this.stores = stores
    this.clock = clock
    this.#unclaimed = stores.eventLog.open({ runId, offset })
  }

  /** Whether a response writes into this log. Its first event comes before the chat is set up. */
  get isProducing(): boolean {
    return this.#isProducing
  }

  /** From here on appends carry the run's epoch, and `close` ends the run. */
  bind(run: Run): void {
    run.eventLog.endWhenStopped()
    this.#claimed = run.eventLog
  }

  /** The chat did not get the run. */
  refuse(error: unknown): void {
    this.#failure = { error }
    this.#wasRefused = true
  }

  resumeFrom(): EventOffset | null {
    return this.#unclaimed.resumeFrom()
  }

  /** A final refusal is thrown again as it is: the response helper takes another error for a second failure. */
  async append(chunks: StreamChunk[]): Promise<EventOffset[]> {
    if (this.#failure !== undefined) throw this.#failure.error
    this.#isProducing = true
    try {
      return await (this.#claimed ?? this.#unclaimed).append(chunks)
    } catch (error) {
      if (FINAL_CODES.some((code) => isHoldfastError(error, code))) this.#failure = { error }
      throw error
    }
  }

  read(offset: EventOffset, signal?: AbortSignal): AsyncIterable<EventLogEntry> {
    return this.#unclaimed.read(offset, signal)
  }

  snapshot(): Promise<EventLogEntry[]> {
    return this.#unclaimed.snapshot()
  }

  async close(): Promise<void> {
    if (this.#claimed !== undefined) return this.#claimed.close()
    const record = await this.stores.runs.get(this.runId)
    if (record?.driverEpoch !== undefined) return
    // A refused send leaves nothing behind, so that it can be sent again.
    if (record === null && this.#wasRefused) await this.stores.eventLog.delete(this.runId)
    else await this.#unclaimed.close()
  }
}

/** Whether an adapter is one of `durableLog`. */
export function isLateBoundLog(adapter: unknown): adapter is LateBoundLog {
  return typeof adapter === 'object' && adapter !== null && BRAND in adapter
}
