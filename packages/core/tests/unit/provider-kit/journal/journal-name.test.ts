import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isHoldfastError } from '../../../../src/index.ts'
import { journalName, runIdOfJournal } from '../../../../src/provider-kit/index.ts'

describe('journalName', () => {
  it('refuses what is no run id', () => {
    for (const bad of ['', 'a\0b', 'a\nb', 'x'.repeat(257), '\ud800']) {
      expect(() => journalName(bad)).toThrow(expect.objectContaining({ code: 'INVALID_ID' }))
    }
  })

  it('refuses a run id whose name would not fit into a file name', () => {
    const longest = 'x'.repeat(240)
    expect(journalName(longest)).toBe(longest)
    expect(() => journalName('ü'.repeat(120))).toThrow(expect.objectContaining({ code: 'INVALID_ID' }))
  })

  it('has nothing that a shell or a file system reads as more than a name', () => {
    for (const hostile of ['$(touch x)', '../../etc', '-rf', 'a\'b"c`d', '.', '*', 'a b', 'a/b', 'A', 'ü']) {
      expect(journalName(hostile)).toMatch(/^[a-z0-9_-]+$/)
    }
  })

  it('gives two run ids two names, also where file names ignore case', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 20 }), fc.string({ maxLength: 20 }), (a, b) => {
        fc.pre(isId(a) && isId(b) && a !== b)
        expect(journalName(a).toLowerCase()).not.toBe(journalName(b).toLowerCase())
      }),
    )
    expect(journalName('Run')).not.toBe(journalName('run'))
  })

  it('can be read back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 12 }), (runId) => {
        fc.pre(isId(runId))
        expect(runIdOfJournal(journalName(runId))).toBe(runId)
      }),
    )
  })

  it('is read back only in the one spelling that it has', () => {
    for (const name of ['', 'A', '_4', '_zz', '_61', '_FF', '_ff', '_c3', 'a.b', '../a', 'a b', '_']) {
      expect(runIdOfJournal(name)).toBeUndefined()
    }
  })
})

function isId(value: string): boolean {
  try {
    journalName(value)
    return true
  } catch (error) {
    if (isHoldfastError(error)) return false
    throw error
  }
}
