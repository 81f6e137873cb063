import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JournalLines } from '../../../../src/provider-kit/journal/journal-lines.ts'
import type { JournalExit, JournalLine } from '../../../../src/provider-kit/journal/journal-lines.ts'
import { MAX_MARKER_BYTES } from '../../../../src/provider-kit/journal/journal-marker.ts'
import { newJournalNonce } from '../../../../src/provider-kit/index.ts'

const nonce = newJournalNonce()

function journalOf(output: Uint8Array, exitCode = 7): Uint8Array {
  return Buffer.concat([output, Buffer.from(`\n@holdfast-exit ${nonce} ${exitCode}\n`)])
}

/** Reads from `from` on, in pieces that end at `cuts`. */
function read(bytes: Uint8Array, from = 0, cuts: readonly number[] = []): (JournalLine | JournalExit)[] {
  const start = Math.max(0, from - MAX_MARKER_BYTES)
  const lines = new JournalLines({ start, from, nonce, maxLineBytes: 1_000 })
  const ends = [...cuts.filter((cut) => cut > start && cut < bytes.length), bytes.length].toSorted((a, b) => a - b)
  let at = start
  return ends.flatMap((end) => {
    const items = lines.push(bytes.slice(at, end))
    at = end
    return items
  })
}

const textsOf = (items: readonly (JournalLine | JournalExit)[]): string[] =>
  items.map((item) => (item.type === 'line' ? item.text : `exit ${item.exitCode}`))

/** Output with what is hard in it: line ends in a row, cut characters, bytes that are no text, near misses of a marker. */
const output = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => Buffer.from(text)),
      fc
        .constantFrom('\n', '\n\n', '\r\n', '@holdfast-exit', `@holdfast-exit ${'0'.repeat(32)} 0\n`, '🙂', '│')
        .map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes)),
    ),
    { maxLength: 12 },
  )
  .map((parts) => new Uint8Array(Buffer.concat(parts)))

describe('JournalLines', () => {
  it('gives each line whole, without the line end that the marker brings', () => {
    expect(textsOf(read(journalOf(Buffer.from('a\nb\n'))))).toEqual(['a', 'b', 'exit 7'])
    expect(textsOf(read(journalOf(Buffer.from('a\nb'))))).toEqual(['a', 'b', 'exit 7'])
    expect(textsOf(read(journalOf(Buffer.from('a\n\n'))))).toEqual(['a', '', 'exit 7'])
    expect(textsOf(read(journalOf(Buffer.from('\n'))))).toEqual(['', 'exit 7'])
    expect(textsOf(read(journalOf(Buffer.from(''))))).toEqual(['exit 7'])
  })

  it('gives no part of a line that has no end yet', () => {
    expect(textsOf(read(Buffer.from('a\nhalf')))).toEqual(['a'])
  })

  it('is not ended by a marker that does not know the nonce, or is not a line of its own', () => {
    const other = `@holdfast-exit ${newJournalNonce()} 0`
    const near = [other, `x@holdfast-exit ${nonce} 0`, `@holdfast-exit ${nonce} 0 `, `@holdfast-exit ${nonce} `]
    const rest = [`@holdfast-exit ${nonce} 1.5`, `@holdfast-exit ${nonce} 0000`, `@holdfast-exit ${nonce} -1`]
    const lines = [...near, ...rest]
    expect(textsOf(read(journalOf(Buffer.from(lines.join('\n')))))).toEqual([...lines, 'exit 7'])
  })

  it('ignores what is printed after the end', () => {
    const late = Buffer.concat([journalOf(Buffer.from('a\n')), Buffer.from('late\nmore')])
    expect(textsOf(read(late))).toEqual(['a', 'exit 7'])
  })

  it('refuses a line without end', () => {
    expect(() => read(Buffer.alloc(1_001, 'x'))).toThrow(expect.objectContaining({ code: 'LIMIT_EXCEEDED' }))
  })

  it('gives the same however the bytes are cut', () => {
    fc.assert(
      fc.property(output, fc.array(fc.nat(120), { maxLength: 8 }), (bytes, cuts) => {
        const journal = journalOf(bytes)
        expect(read(journal, 0, cuts)).toEqual(read(journal))
      }),
      { numRuns: 500 },
    )
  })

  it('goes on from the position after any line as if it had never stopped', () => {
    fc.assert(
      fc.property(output, (bytes) => {
        const journal = journalOf(bytes)
        const whole = read(journal)
        for (const [index, item] of whole.entries()) {
          if (item.type === 'line') expect(read(journal, item.position)).toEqual(whole.slice(index + 1))
        }
      }),
      { numRuns: 300 },
    )
  })

  it('gives, from every byte on, the rest of that line, the lines after it, and the end', () => {
    fc.assert(
      fc.property(output, (bytes) => {
        const journal = journalOf(bytes)
        const whole = read(journal)
        for (let from = 0; from <= journal.length; from += 1) {
          const items = read(journal, from)
          expect(items.at(-1)).toEqual(whole.at(-1))
          const later = whole.filter((item) => item.type === 'line' && item.position > from)
          expect(items.slice(0, -1).map((item) => item.position)).toEqual(later.map((item) => item.position))
        }
      }),
      { numRuns: 150 },
    )
  })
})
