import { mergeRanges } from './text-range.ts'
import type { TextRange } from './text-range.ts'
import { secretEncodings } from './secret-encodings.ts'

/** Stands where a secret stood. */
export const REDACTED = '[redacted]'

interface Needle {
  readonly text: string
  readonly bytes: Buffer
}

/**
 * Finds registered secrets, plain and in their usual encodings, and puts `[redacted]` in their place. Finds that overlap
 * are replaced as one, so that no part of a value is left beside a replacement.
 */
export class SecretRedactor {
  readonly #needles: readonly Needle[]
  readonly #firstCharacters: ReadonlySet<string>
  /** Length of the longest form, in UTF-16 units. 0 when there is nothing to redact. */
  readonly maxLength: number
  /** The same in UTF-8 bytes. */
  readonly maxByteLength: number

  /** `values` are plain secrets; empty ones are left out. Strength is checked at registration, not here. */
  constructor(values: Iterable<string>) {
    const forms = new Set<string>()
    for (const value of values) if (value !== '') for (const form of secretEncodings(value)) forms.add(form)
    this.#needles = [...forms].map((text) => ({ text, bytes: Buffer.from(text, 'utf8') }))
    this.#firstCharacters = new Set(this.#needles.map(({ text }) => text.charAt(0)))
    this.maxLength = this.#needles.reduce((longest, { text }) => Math.max(longest, text.length), 0)
    this.maxByteLength = this.#needles.reduce((longest, { bytes }) => Math.max(longest, bytes.length), 0)
  }

  get isEmpty(): boolean {
    return this.#needles.length === 0
  }

  /** `text` without secrets. The same string when it holds none. */
  text(text: string): string {
    let redacted = ''
    let end = 0
    for (const range of this.ranges(text)) {
      redacted += text.slice(end, range.start) + REDACTED
      end = range.end
    }
    return end === 0 ? text : redacted + text.slice(end)
  }

  /** Same for bytes, whatever their encoding outside the secrets. Returns the same array when it holds none. */
  bytes(bytes: Uint8Array): Uint8Array {
    const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const ranges = this.byteRanges(source)
    if (ranges.length === 0) return bytes
    const parts: Uint8Array[] = []
    let end = 0
    for (const range of ranges) {
      parts.push(source.subarray(end, range.start), Buffer.from(REDACTED))
      end = range.end
    }
    parts.push(source.subarray(end))
    return new Uint8Array(Buffer.concat(parts))
  }

  /** Every string in plain data, object keys included. Other values stay as they are. */
  json<T>(value: T): T {
    return (this.isEmpty ? value : this.#member(value)) as T
  }

  hasSecret(text: string): boolean {
    return this.#needles.some((needle) => text.includes(needle.text))
  }

  /** Where secrets stand in `text`, in order and without overlaps. */
  ranges(text: string): TextRange[] {
    return mergeRanges(this.#needles.flatMap((needle) => occurrences(text, needle.text)))
  }

  /** Where secrets stand in `bytes`, in order and without overlaps. */
  byteRanges(bytes: Buffer): TextRange[] {
    return mergeRanges(this.#needles.flatMap((needle) => occurrences(bytes, needle.bytes)))
  }

  /** Where the earliest secret could begin whose end is not in `text` yet; the length of `text` when none could. */
  openStart(text: string): number {
    for (let start = Math.max(0, text.length - this.maxLength + 1); start < text.length; start += 1) {
      if (!this.#firstCharacters.has(text.charAt(start))) continue
      const tail = text.slice(start)
      if (this.#needles.some((needle) => needle.text.length > tail.length && needle.text.startsWith(tail))) return start
    }
    return text.length
  }

  #member(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value)
    if (Array.isArray(value)) return value.map((item) => this.#member(item))
    if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [this.text(key), this.#member(member)]))
  }
}

function occurrences<T extends string | Buffer>(source: T, needle: T): TextRange[] {
  const found: TextRange[] = []
  const indexOf = (from: number): number =>
    typeof source === 'string' ? source.indexOf(needle as string, from) : source.indexOf(needle, from)
  for (let start = indexOf(0); start >= 0; start = indexOf(start + 1)) found.push({ start, end: start + needle.length })
  return found
}
