import { CorruptDataError } from '@holdfast/core'
import { EventType } from '@tanstack/ai'
import type { StreamChunk } from '@tanstack/ai'
import { replayFingerprint } from './replay-fingerprint.ts'

/** How many stored events in a row may be of a kind that a replay does not bring back. */
const MAX_SKIPPED = 64

/**
 * Passes on of a replayed run what its log does not have yet. An event that stands next in the log is dropped; custom
 * events that the first host alone could tell are skipped in the log. Once the log is used up, everything passes.
 * `REPLAY_DIVERGED` when the two differ, `REPLAY_WRONG_THREAD` when the replay is another thread's.
 */
export class ReplayAlignment {
  readonly #stored: readonly StreamChunk[]
  #next = 0

  constructor(stored: readonly StreamChunk[]) {
    this.#stored = stored
  }

  push(chunk: StreamChunk): StreamChunk[] {
    if (this.#next >= this.#stored.length) return [chunk]
    this.#assertThread(chunk)
    const fingerprint = replayFingerprint(chunk)
    const found = this.#find(fingerprint)
    if (found >= 0) {
      this.#next = found + 1
      return []
    }
    if (isOutOfBand(chunk)) return [chunk]
    if (this.#rest().every(isOutOfBand) && this.#rest().length <= MAX_SKIPPED) {
      this.#next = this.#stored.length
      return [chunk]
    }
    throw this.#diverged(fingerprint)
  }

  /** The replay is over. `REPLAY_DIVERGED` when the log has more than it. */
  end(): void {
    if (!this.#rest().every(isOutOfBand)) throw this.#diverged('nothing')
  }

  #rest(): readonly StreamChunk[] {
    return this.#stored.slice(this.#next)
  }

  #find(fingerprint: string): number {
    for (let index = this.#next; index <= this.#next + MAX_SKIPPED; index += 1) {
      const stored = this.#stored[index]
      if (stored === undefined) return -1
      if (replayFingerprint(stored) === fingerprint) return index
      if (!isOutOfBand(stored)) return -1
    }
    return -1
  }

  #assertThread(chunk: StreamChunk): void {
    if (chunk.type !== EventType.RUN_STARTED) return
    const start = this.#stored.find((stored) => stored.type === EventType.RUN_STARTED)
    const [wanted, got] = [threadOf(start), threadOf(chunk)]
    if (wanted === undefined || got === undefined || wanted === got) return
    throw new CorruptDataError('REPLAY_WRONG_THREAD', `The replay is of thread ${got}, the log of thread ${wanted}.`, {
      details: { expected: wanted, actual: got },
    })
  }

  #diverged(actual: string): CorruptDataError {
    const skipped = this.#rest().findIndex((stored) => !isOutOfBand(stored))
    const index = this.#next + Math.max(0, skipped)
    const stored = this.#stored[index]
    const expected = stored === undefined ? 'nothing' : replayFingerprint(stored)
    const message = `The replay differs from the log at event ${index}: the log has ${expected}, the replay ${actual}.`
    return new CorruptDataError('REPLAY_DIVERGED', message, { details: { index, expected, actual } })
  }
}

/** The part of `stream` that `storedChunks` lacks. Fails as `ReplayAlignment` says. */
export async function* alignReplay(
  stream: AsyncIterable<StreamChunk>,
  storedChunks: readonly StreamChunk[],
): AsyncGenerator<StreamChunk, void> {
  const alignment = new ReplayAlignment(storedChunks)
  for await (const chunk of stream) yield* alignment.push(chunk)
  alignment.end()
}

/** What the host told besides: what its sandbox did, which files changed. */
function isOutOfBand(chunk: StreamChunk): boolean {
  return chunk.type === EventType.CUSTOM
}

function threadOf(chunk: StreamChunk | undefined): string | undefined {
  const threadId: unknown = chunk === undefined ? undefined : Reflect.get(chunk, 'threadId')
  return typeof threadId === 'string' ? threadId : undefined
}
