import { secretEncodings } from './secret-encodings.ts'

/** Stands where a secret stood. */
export const REDACTED = '[redacted]'

interface Needle {
  readonly text: string
  readonly bytes: Buffer
}

const ESCAPE_FOR_REGEXP = /[$()*+.?[\\\]^{|}/-]/g

/**
 * Finds registered secrets, plain and in their usual encodings, and puts `[redacted]` in their place. Longer forms win
 * over shorter ones, so that no part of a value is left beside a replacement.
 */
export class SecretRedactor {
  readonly #needles: readonly Needle[]
  readonly #pattern: RegExp | undefined
  /** Length of the longest form, in UTF-16 units. 0 when there is nothing to redact. */
  readonly maxLength: number
  /** Length of the longest form in UTF-8 bytes. */
  readonly maxBytes: number

  /** `values` are plain secrets; empty ones are left out. Strength is checked at registration, not here. */
  constructor(values: Iterable<string>) {
    const forms = new Set<string>()
    for (const value of values) if (value !== '') for (const form of secretEncodings(value)) forms.add(form)
    this.#needles = [...forms]
      .map((text) => ({ text, bytes: Buffer.from(text, 'utf8') }))
      .toSorted((a, b) => b.text.length - a.text.length)
    const alternatives = this.#needles.map(({ text }) => text.replace(ESCAPE_FOR_REGEXP, String.raw`\$&`))
    this.#pattern = alternatives.length === 0 ? undefined : new RegExp(alternatives.join('|'), 'g')
    this.maxLength = this.#needles[0]?.text.length ?? 0
    this.maxBytes = Math.max(0, ...this.#needles.map(({ bytes }) => bytes.length))
  }

  get isEmpty(): boolean {
    return this.#pattern === undefined
  }

  text(text: string): string {
    return this.#pattern === undefined ? text : text.replace(this.#pattern, REDACTED)
  }

  hasSecret(text: string): boolean {
    return this.#pattern !== undefined && text.search(this.#pattern) >= 0
  }

  /** Same for bytes, whatever their encoding outside the secrets. Returns the same array when it holds none. */
  bytes(bytes: Uint8Array): Uint8Array {
    const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const matches = this.#byteMatches(source)
    if (matches.length === 0) return bytes
    const parts: Uint8Array[] = []
    let end = 0
    for (const match of matches) {
      parts.push(source.subarray(end, match.start), Buffer.from(REDACTED))
      end = match.end
    }
    parts.push(source.subarray(end))
    return new Uint8Array(Buffer.concat(parts))
  }

  /** Every string in plain data, object keys included. Other values stay as they are. */
  json<T>(value: T): T {
    return (this.#pattern === undefined ? value : this.#member(value)) as T
  }

  /** Where secrets stand in `text`: `[start, end)` pairs in order. */
  matches(text: string): { start: number; end: number }[] {
    if (this.#pattern === undefined) return []
    return [...text.matchAll(this.#pattern)].map((match) => ({
      start: match.index,
      end: match.index + match[0].length,
    }))
  }

  #member(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value)
    if (Array.isArray(value)) return value.map((item) => this.#member(item))
    if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [this.text(key), this.#member(member)]))
  }

  #byteMatches(source: Buffer): { start: number; end: number }[] {
    const found: { start: number; end: number }[] = []
    for (const { bytes } of this.#needles) {
      for (let at = source.indexOf(bytes); at >= 0; at = source.indexOf(bytes, at + 1)) {
        found.push({ start: at, end: at + bytes.length })
      }
    }
    return mergeOverlaps(found.toSorted((a, b) => a.start - b.start))
  }
}

function mergeOverlaps(ranges: { start: number; end: number }[]): { start: number; end: number }[] {
  const merged: { start: number; end: number }[] = []
  for (const range of ranges) {
    const last = merged.at(-1)
    if (last !== undefined && range.start < last.end) last.end = Math.max(last.end, range.end)
    else merged.push({ ...range })
  }
  return merged
}
