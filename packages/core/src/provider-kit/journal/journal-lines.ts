import { ProviderError } from '../../errors/error-classes.ts'
import { decodeUtf8 } from '../utf8-text-decoder.ts'
import { exitCodeOfLine } from './journal-marker.ts'

/** One whole line of a journal, with its place. */
export interface JournalLine {
  type: 'line'
  /** Without its line end; bytes that are not UTF-8 are U+FFFD. */
  text: string
  /** The byte position after the line: reading from there gives what follows it. */
  position: number
}

/** The last item of a journal. */
export interface JournalExit {
  type: 'exit'
  exitCode: number
  position: number
}

export interface JournalLinesInput {
  /** Position of the first byte that is pushed. May lie before `from`, so that a marker begun there is recognised. */
  start: number
  /** What lies before is not given. In the middle of a line, the rest of it is. */
  from: number
  nonce: string
  maxLineBytes: number
}

const NEWLINE = 0x0a

/** Cuts the bytes of a journal into whole lines, up to the exit marker. */
export class JournalLines {
  readonly #input: JournalLinesInput
  #parts: Uint8Array[] = []
  #partBytes = 0
  #lineStart: number
  /** The marker begins with a line end, so an empty line counts only once another one follows. */
  #blankPosition: number | undefined
  #hasEnded = false

  constructor(input: JournalLinesInput) {
    this.#input = input
    this.#lineStart = input.start
  }

  /** Position after the last byte pushed. */
  get position(): number {
    return this.#lineStart + this.#partBytes
  }

  /** Whole lines that are complete now. Bytes after the exit marker are ignored. */
  push(bytes: Uint8Array): (JournalLine | JournalExit)[] {
    const items: (JournalLine | JournalExit)[] = []
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end >= 0 && !this.#hasEnded; end = bytes.indexOf(NEWLINE, start)) {
      this.#parts.push(bytes.subarray(start, end))
      this.#endLine(items)
      start = end + 1
    }
    if (!this.#hasEnded && start < bytes.length) this.#keep(bytes.slice(start))
    return items
  }

  #keep(rest: Uint8Array): void {
    this.#parts.push(rest)
    this.#partBytes += rest.length
    const { maxLineBytes } = this.#input
    if (this.#partBytes <= maxLineBytes) return
    throw new ProviderError('LIMIT_EXCEEDED', `A line of the journal exceeds ${maxLineBytes} bytes.`, {
      details: { limit: 'maxLineBytes', maxLineBytes },
    })
  }

  #endLine(items: (JournalLine | JournalExit)[]): void {
    const line = this.#parts.length === 1 ? (this.#parts[0] as Uint8Array) : Buffer.concat(this.#parts)
    const position = this.#lineStart + line.length + 1
    const exitCode = exitCodeOfLine(line, this.#input.nonce)
    if (exitCode === undefined) this.#addLine(items, line, position)
    else items.push({ type: 'exit', exitCode, position })
    this.#hasEnded = exitCode !== undefined
    this.#lineStart = position
    this.#parts = []
    this.#partBytes = 0
  }

  #addLine(items: (JournalLine | JournalExit)[], line: Uint8Array, position: number): void {
    const { from } = this.#input
    if (this.#blankPosition !== undefined) items.push({ type: 'line', text: '', position: this.#blankPosition })
    this.#blankPosition = undefined
    if (position <= from) return
    if (line.length === 0) this.#blankPosition = position
    else items.push({ type: 'line', text: decodeUtf8(line.subarray(Math.max(0, from - this.#lineStart))), position })
  }
}
