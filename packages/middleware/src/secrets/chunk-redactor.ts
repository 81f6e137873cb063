import type { StreamChunk } from '@tanstack/ai'
import { RedactionStream } from './redaction-stream.ts'
import type { SecretRedactor } from './secret-redactor.ts'

interface OpenText {
  readonly stream: RedactionStream
  /** The last delta, as the form of the one that carries the rest. */
  last: StreamChunk
}

/** Which id a delta belongs to. */
const ID_FIELDS = ['messageId', 'toolCallId'] as const

/**
 * Takes secrets out of a run's events. Text that comes in deltas is held back only as far as a secret could still be
 * open; the rest of it follows before the event that ends it.
 */
export class ChunkRedactor {
  readonly #redactor: SecretRedactor
  readonly #open = new Map<string, OpenText>()

  constructor(redactor: SecretRedactor) {
    this.#redactor = redactor
  }

  /** What can be shown now, in order. */
  push(chunk: StreamChunk): StreamChunk[] {
    if (this.#redactor.isEmpty) return [chunk]
    const delta: unknown = Reflect.get(chunk, 'delta')
    if (typeof delta !== 'string') return [...this.#restBefore(chunk), this.#redactor.json(chunk)]
    const key = keyOf(chunk)
    const open = this.#open.get(key) ?? { stream: new RedactionStream(this.#redactor), last: chunk }
    open.last = chunk
    this.#open.set(key, open)
    return withDelta(chunk, open.stream.push(delta))
  }

  /** The rest of everything. To be called when no more chunks come. */
  flush(): StreamChunk[] {
    return [...this.#open.keys()].flatMap((key) => this.#rest(key))
  }

  /** An end event of a text ends it; an event without an id, such as the end of the run, ends all. */
  #restBefore(chunk: StreamChunk): StreamChunk[] {
    if (!chunk.type.endsWith('_END') && !chunk.type.startsWith('RUN_')) return []
    const id = idOf(chunk)
    const keys = [...this.#open.keys()].filter((key) => id === undefined || key.endsWith(`\u0000${id}`))
    return keys.flatMap((key) => this.#rest(key))
  }

  #rest(key: string): StreamChunk[] {
    const open = this.#open.get(key)
    this.#open.delete(key)
    return open === undefined ? [] : withDelta(open.last, open.stream.flush())
  }
}

function keyOf(chunk: StreamChunk): string {
  return `${chunk.type}\u0000${idOf(chunk) ?? ''}`
}

function idOf(chunk: StreamChunk): string | undefined {
  for (const field of ID_FIELDS) {
    const id: unknown = Reflect.get(chunk, field)
    if (typeof id === 'string') return id
  }
  return undefined
}

/** Fields beside `delta` that repeat the text so far are left out: they would show what the delta hides. */
function withDelta(chunk: StreamChunk, delta: string): StreamChunk[] {
  if (delta === '') return []
  const { content: _content, args: _args, ...rest } = chunk as StreamChunk & { content?: unknown; args?: unknown }
  return [{ ...rest, delta } as StreamChunk]
}
