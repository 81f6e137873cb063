import type { StreamChunk } from '@tanstack/ai'
import { DriverLostError, LeaseLostError, ConflictError } from '../errors/error-classes.ts'
import { decodeJson, encodeExactJson } from '../exact-json.ts'
import { assertId } from '../identifier.ts'
import { assertEpoch } from '../runs/driver-check.ts'
import type { EventLog, EventLogEntry, EventLogOpenInput, EventOffset } from '../runs/event-log.ts'
import { OFFSET_NOW } from '../runs/event-log.ts'
import { formatEventOffset, formatTailOffsets, parseEventOffset } from '../runs/event-offset.ts'
import { LogRowWatch } from './log-row-watch.ts'
import type { MemoryState } from './memory-state.ts'

/** One run's log, bound to the epoch it was opened with. */
export class MemoryEventLog implements EventLog {
  readonly runId: string
  readonly #state: MemoryState
  readonly #epoch: number | undefined
  readonly #resumeOffset: EventOffset | null

  constructor(state: MemoryState, input: EventLogOpenInput) {
    this.runId = assertId('runId', input.runId)
    if (input.epoch !== undefined) assertEpoch(input.epoch)
    this.#state = state
    this.#epoch = input.epoch
    this.#resumeOffset = (input.offset ?? null) as EventOffset | null
  }

  resumeFrom(): EventOffset | null {
    return this.#resumeOffset
  }

  async append(chunks: StreamChunk[]): Promise<EventOffset[]> {
    this.#state.assertOpen()
    const texts = chunks.map((chunk) => encodeExactJson(chunk))
    if (texts.length === 0) return []
    this.#assertMayAppend()
    const { length } = this.#state.logs.append(this.runId, texts).texts
    return formatTailOffsets(this.runId, length, texts.length)
  }

  read(offset: EventOffset, signal?: AbortSignal): AsyncIterable<EventLogEntry> {
    // "After the last event" is meant at the time of this call, not when the reader first asks.
    const tail = this.#state.logs.find(this.runId)?.texts.length ?? 0
    const start = (): number => {
      const current = this.#state.logs.find(this.runId)?.texts.length ?? 0
      return offset === OFFSET_NOW ? tail : parseEventOffset(this.runId, offset, current)
    }
    return { [Symbol.asyncIterator]: () => this.#iterate(start, signal) }
  }

  async snapshot(): Promise<EventLogEntry[]> {
    this.#state.assertOpen()
    const texts = this.#state.logs.find(this.runId)?.texts ?? []
    return texts.map((text, index) => this.#entry(text, index))
  }

  async close(): Promise<void> {
    this.#state.assertOpen()
    if (this.#epoch !== undefined) this.#assertCurrentEpoch(this.#epoch)
    else if (this.#state.logs.find(this.runId)?.closedAt === undefined) this.#assertUnclaimed()
    this.#state.logs.close(this.runId, this.#state.clock.now())
  }

  /** A reader that leaves while it waits must not wait for the next event first. */
  #iterate(start: () => number, signal: AbortSignal | undefined): AsyncIterator<EventLogEntry, void> {
    const left = new AbortController()
    const entries = this.#tail(start, signal === undefined ? [left.signal] : [left.signal, signal])
    return {
      next: () => entries.next(),
      return: () => {
        left.abort()
        return entries.return()
      },
    }
  }

  async *#tail(start: () => number, signals: AbortSignal[]): AsyncGenerator<EventLogEntry, void, undefined> {
    this.#state.assertOpen()
    let index = start()
    const row = this.#state.logs.ensure(this.runId)
    const watch = new LogRowWatch(this.#state, row, signals)
    try {
      for (;;) {
        while (index < row.texts.length && !watch.isOver()) {
          const entry = this.#entry(row.texts[index] as string, index)
          index += 1
          yield entry
        }
        if (watch.isOver() || row.closedAt !== undefined) return
        await watch.change()
      }
    } finally {
      watch.stop()
      this.#state.logs.forgetIfUnused(this.runId)
    }
  }

  #entry(text: string, index: number): EventLogEntry {
    const chunk = decodeJson(text, 'event') as StreamChunk
    return { offset: formatEventOffset(this.runId, index + 1), chunk }
  }

  #assertMayAppend(): void {
    if (this.#epoch !== undefined) this.#assertCurrentEpoch(this.#epoch)
    else this.#assertUnclaimed()
    if (this.#state.logs.find(this.runId)?.closedAt === undefined) return
    const message = `The event log of run ${this.runId} is closed; nothing can be appended.`
    throw new ConflictError('LOG_CLOSED', message, { details: { runId: this.runId } })
  }

  #assertUnclaimed(): void {
    if (this.#state.runs.findDriver(this.runId) === undefined) return
    const message = `Run ${this.runId} has been claimed; open its log with the epoch of the claim.`
    throw new LeaseLostError('LOG_FENCED', message, { details: { runId: this.runId } })
  }

  #assertCurrentEpoch(epoch: number): void {
    if (this.#state.runs.findDriver(this.runId)?.epoch === epoch) return
    throw new DriverLostError({ runId: this.runId, epoch })
  }
}
