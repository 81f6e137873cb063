import { describe, expect, test } from 'vitest'
import { encodeExactJson } from '../../src/exact-json.ts'

/** The value below `levels` objects and lists in turn. */
function buried(value: unknown, levels: number): unknown {
  return levels === 0 ? value : { list: [buried(value, levels - 1)] }
}

class Point {
  readonly x: number
  constructor(x: number) {
    this.x = x
  }
}

const cycle: Record<string, unknown> = {}
cycle['self'] = [cycle]

// A hole is what the test is about.
// oxlint-disable-next-line no-sparse-arrays
const holed = [1, , 3]

describe.each([0, 1, 3, 40])('below %i objects and lists', (levels) => {
  test.each([
    ['NaN', Number.NaN],
    ['an infinite number', -Infinity],
    ['a bigint', 1n],
    ['a function', () => 1],
    ['a symbol', Symbol('s')],
    ['an undefined element', [undefined]],
    ['a hole', holed],
    ['NaN in an instance of a class', new Point(Number.NaN)],
    ['NaN under an object without a prototype', Object.assign(Object.create(null), { x: Number.NaN })],
    ['what toJSON makes of it', { toJSON: () => Number.NaN }],
    ['a list with its own toJSON', Object.assign([1], { toJSON: () => Number.NaN })],
    ['a cycle', cycle],
  ])('%s is refused', (_, value) => {
    expect(() => encodeExactJson(buried(value, levels))).toThrow(expect.objectContaining({ code: 'INVALID_CHUNK' }))
  })

  test.each([
    ['text with NUL and half a surrogate pair', 'a\0b\uD800'],
    ['numbers', [0, -1.5, 2 ** 60, 5e-324]],
    ['null and booleans', [null, true, false]],
    ['an object without a prototype', Object.assign(Object.create(null), { x: 1 })],
    ['an instance of a class', new Point(1)],
    ['a date', new Date(0)],
    ['an empty list and object', [[], {}]],
  ])('%s is written as JSON has it', (_, value) => {
    expect(encodeExactJson(buried(value, levels))).toBe(JSON.stringify(buried(value, levels)))
  })

  test('an undefined field is left out', () => {
    expect(encodeExactJson(buried({ kept: 1, gone: undefined }, levels))).toBe(
      JSON.stringify(buried({ kept: 1 }, levels)),
    )
  })
})

test('nothing at all is refused', () => {
  expect(() => encodeExactJson(undefined)).toThrow(expect.objectContaining({ code: 'INVALID_CHUNK' }))
})
