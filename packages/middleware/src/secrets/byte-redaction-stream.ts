import { REDACTED } from './secret-redactor.ts'
import type { SecretRedactor } from './secret-redactor.ts'
import type { TextRange } from './text-range.ts'

const REPLACEMENT = new TextEncoder().encode(REDACTED)

/**
 * Redacts bytes that come in pieces, also a secret that is split over several. Holds back the length of the longest form
 * less one: every form that begins before that is seen whole.
 */
export class ByteRedactionStream {
  readonly #redactor: SecretRedactor
  #held: Buffer = Buffer.alloc(0)
  /** So many bytes at the start of `#held` are out already, as part of a replacement that may still grow. */
  #shown = 0
  /** Whether anything was replaced so far. */
  found = false

  constructor(redactor: SecretRedactor) {
    this.#redactor = redactor
  }

  push(piece: Uint8Array): Uint8Array[] {
    if (this.#redactor.isEmpty) return [piece]
    const bytes = this.#held.length === 0 ? asBuffer(piece) : Buffer.concat([this.#held, piece])
    return this.#show(bytes, Math.max(0, bytes.length - this.#redactor.maxByteLength + 1))
  }

  /** The rest. To be called at the end. */
  flush(): Uint8Array[] {
    return this.#show(this.#held, this.#held.length)
  }

  #show(bytes: Buffer, holdFrom: number): Uint8Array[] {
    const ranges = this.#redactor.byteRanges(bytes)
    if (ranges.length > 0) this.found = true
    const crossing = ranges.find(({ start, end }) => start < holdFrom && end > holdFrom)
    const end = Math.max(crossing?.end ?? holdFrom, this.#shown)
    const output = rendered(bytes, ranges, this.#shown, end)
    this.#held = bytes.subarray(holdFrom)
    this.#shown = end - holdFrom
    return output
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** `bytes` from `from` to `to`. A range that began before `from` has its replacement out already. */
function rendered(bytes: Buffer, ranges: readonly TextRange[], from: number, to: number): Uint8Array[] {
  const output: Uint8Array[] = []
  let at = from
  for (const range of ranges) {
    if (range.end <= from || range.start >= to) continue
    if (range.start >= from) output.push(bytes.subarray(at, range.start), REPLACEMENT)
    at = range.end
  }
  if (at < to) output.push(bytes.subarray(at, to))
  return output
}
