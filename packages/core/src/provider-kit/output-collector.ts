import { Utf8TextDecoder } from './utf8-text-decoder.ts'

/** How much of an output is kept, and who gets it live. */
export interface OutputCollectorOptions {
  /** Most bytes kept. No limit when left out. */
  maxBytes?: number | undefined
  /** Gets every piece of decoded text as it arrives, also beyond `maxBytes`. */
  onText?: ((text: string) => void) | undefined
}

/** Collects one output of a command. Bytes beyond the limit are dropped and remembered as `truncated`. */
export class OutputCollector {
  readonly #maxBytes: number
  readonly #onText: ((text: string) => void) | undefined
  readonly #live = new Utf8TextDecoder()
  readonly #kept: Uint8Array[] = []
  #keptBytes = 0
  #isTruncated = false
  #isEnded = false

  constructor(options: OutputCollectorOptions = {}) {
    this.#maxBytes = options.maxBytes ?? Number.POSITIVE_INFINITY
    this.#onText = options.onText
  }

  get truncated(): boolean {
    return this.#isTruncated
  }

  push(bytes: Uint8Array): void {
    if (this.#isEnded || bytes.length === 0) return
    this.#keep(bytes)
    if (this.#onText !== undefined) this.#deliver(this.#live.write(bytes))
  }

  /** Delivers what an unfinished last character becomes. Repeatable. */
  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    if (this.#onText !== undefined) this.#deliver(this.#live.end())
  }

  /** The kept bytes as text. A character that the limit cut in two is left out. */
  text(): string {
    const decoder = new Utf8TextDecoder()
    const whole = this.#kept.map((bytes) => decoder.write(bytes)).join('')
    return this.#isTruncated ? whole : whole + decoder.end()
  }

  #keep(bytes: Uint8Array): void {
    const room = this.#maxBytes - this.#keptBytes
    if (bytes.length > room) this.#isTruncated = true
    if (room <= 0) return
    // A copy: callers may reuse their buffer.
    const part = bytes.slice(0, Math.min(room, bytes.length))
    this.#kept.push(part)
    this.#keptBytes += part.length
  }

  #deliver(text: string): void {
    if (text !== '') this.#onText?.(text)
  }
}
