import { REDACTED } from './secret-redactor.ts'
import type { SecretRedactor } from './secret-redactor.ts'
import type { TextRange } from './text-range.ts'

/**
 * Redacts text that comes in pieces, also a secret that is split over several. Holds back at most the length of the
 * longest form less one, and only what could still become a secret.
 */
export class RedactionStream {
  readonly #redactor: SecretRedactor
  #held = ''
  /** So many characters at the start of `#held` are out already, as part of a replacement that may still grow. */
  #shown = 0

  constructor(redactor: SecretRedactor) {
    this.#redactor = redactor
  }

  /** What can be shown now. May be empty. */
  push(piece: string): string {
    const text = this.#held + piece
    return this.#show(text, this.#redactor.openStart(text))
  }

  /** The rest. To be called at the end of the text. */
  flush(): string {
    return this.#show(this.#held, this.#held.length)
  }

  #show(text: string, holdFrom: number): string {
    const ranges = this.#redactor.ranges(text)
    const crossing = ranges.find(({ start, end }) => start < holdFrom && end > holdFrom)
    const end = Math.max(crossing?.end ?? holdFrom, this.#shown)
    const output = rendered(text, ranges, this.#shown, end)
    this.#held = text.slice(holdFrom)
    this.#shown = end - holdFrom
    return output
  }
}

/** `text` from `from` to `to`. A range that began before `from` has its replacement out already. */
function rendered(text: string, ranges: readonly TextRange[], from: number, to: number): string {
  let output = ''
  let at = from
  for (const range of ranges) {
    if (range.end <= from || range.start >= to) continue
    if (range.start >= from) output += text.slice(at, range.start) + REDACTED
    at = range.end
  }
  return output + text.slice(at, to)
}
