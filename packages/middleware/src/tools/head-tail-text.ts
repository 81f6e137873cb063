/**
 * Keeps the beginning and the end of a long text in bounded memory, and says between them how much is missing. Counts
 * UTF-8 bytes and never splits a character.
 */
export class HeadTailText {
  readonly #maxBytes: number
  #head = ''
  #headBytes = 0
  #isHeadFull = false
  #tail: string[] = []
  #tailBytes = 0
  #droppedBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = Math.max(2, maxBytes)
  }

  get isEmpty(): boolean {
    return this.#headBytes === 0
  }

  get isTruncated(): boolean {
    return this.#droppedBytes > 0
  }

  push(text: string): void {
    const rest = this.#isHeadFull ? text : this.#fillHead(text)
    if (rest === '') return
    this.#tail.push(rest)
    this.#tailBytes += Buffer.byteLength(rest)
    // Cutting seldom keeps the work in proportion to the text.
    if (this.#tailBytes > this.#maxBytes * 2) this.#cutTail()
  }

  toString(): string {
    this.#cutTail()
    const tail = this.#tail.join('')
    if (this.#droppedBytes === 0) return this.#head + tail
    return `${this.#head}\n[... ${this.#droppedBytes} bytes left out ...]\n${tail}`
  }

  #fillHead(text: string): string {
    const head = firstBytes(text, Math.floor(this.#maxBytes / 2) - this.#headBytes)
    this.#head += head
    this.#headBytes += Buffer.byteLength(head)
    this.#isHeadFull = head.length < text.length
    return text.slice(head.length)
  }

  #cutTail(): void {
    const keep = Math.ceil(this.#maxBytes / 2)
    if (this.#tailBytes <= keep) return
    const tail = lastBytes(this.#tail.join(''), keep)
    const bytes = Buffer.byteLength(tail)
    this.#droppedBytes += this.#tailBytes - bytes
    this.#tail = [tail]
    this.#tailBytes = bytes
  }
}

function firstBytes(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text
  const bytes = Buffer.from(text)
  let end = Math.max(0, maxBytes)
  while (end > 0 && isContinuation(bytes[end])) end -= 1
  return bytes.subarray(0, end).toString()
}

function lastBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  let start = Math.max(0, bytes.length - maxBytes)
  while (start < bytes.length && isContinuation(bytes[start])) start += 1
  return bytes.subarray(start).toString()
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000
}

/** `text`, or its beginning and end when it is longer. */
export function headAndTail(text: string, maxBytes: number): { text: string; isTruncated: boolean } {
  const kept = new HeadTailText(maxBytes)
  kept.push(text)
  return { text: kept.toString(), isTruncated: kept.isTruncated }
}
