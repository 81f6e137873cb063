import assert from 'node:assert/strict'
import type { StreamChunk } from '@tanstack/ai'
import type { EventLog, EventLogEntry, EventOffset } from '@holdfast/core'
import { meanwhile, soon } from './soon.ts'

/** A chunk that can be told from others by its text. */
export function textChunk(text: string): StreamChunk {
  return { type: 'TEXT_MESSAGE_CONTENT', messageId: 'message-1', delta: text } as StreamChunk
}

export function textChunks(count: number, prefix = ''): StreamChunk[] {
  return Array.from({ length: count }, (_, index) => textChunk(`${prefix}${index}`))
}

export const runFinished = { type: 'RUN_FINISHED', threadId: 'thread-1', runId: 'run-1' } as StreamChunk
export const runFailed = { type: 'RUN_ERROR', message: 'no luck' } as StreamChunk

/** Any JSON as a chunk: logs do not look into them. */
export function customChunk(value: unknown): StreamChunk {
  return { type: 'CUSTOM', name: 'case', value } as StreamChunk
}

export function textOf(chunk: StreamChunk): string {
  return String(Reflect.get(chunk, 'delta'))
}

export function textsOf(entries: readonly EventLogEntry[]): string[] {
  return entries.map(({ chunk }) => textOf(chunk))
}

/** Everything from `offset` to the close of the log. */
export async function readAll(log: EventLog, offset: EventOffset): Promise<EventLogEntry[]> {
  const entries: EventLogEntry[] = []
  const reading = (async () => {
    for await (const entry of log.read(offset)) entries.push(entry)
  })()
  await soon(reading, `the end of a read from ${offset}`)
  return entries
}

/** One reader that a case moves by hand. */
export class Tail {
  readonly #entries: AsyncIterator<EventLogEntry>

  constructor(log: EventLog, offset: EventOffset, signal?: AbortSignal) {
    this.#entries = log.read(offset, signal)[Symbol.asyncIterator]()
  }

  /** The next event; fails when there is none although there should be. */
  async next(): Promise<EventLogEntry> {
    const result = await soon(this.#entries.next(), 'the next event')
    assert.ok(result.done !== true, 'the read ended although the log is open')
    return result.value
  }

  /** The next event, which need not be there yet. */
  pending(): Promise<IteratorResult<EventLogEntry>> {
    return meanwhile(this.#entries.next())
  }

  async ends(): Promise<void> {
    const result = await soon(this.#entries.next(), 'the end of the read')
    assert.ok(result.done === true, 'the read goes on although it should end')
  }

  async stop(): Promise<void> {
    await this.#entries.return?.()
  }
}
