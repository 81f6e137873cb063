import { expect, test } from 'vitest'
import { OutputCollector, Utf8TextDecoder } from '../../../src/provider-kit/index.ts'

const TEXT = '\ufeffa€😀漢字┌─┐e\u0301'

test('text is the same wherever the bytes are cut', () => {
  const bytes = new TextEncoder().encode(TEXT)
  for (let cut = 0; cut <= bytes.length; cut++) {
    const pieces: string[] = []
    const output = new OutputCollector({ onText: (text) => pieces.push(text) })
    output.push(bytes.subarray(0, cut))
    output.push(bytes.subarray(cut))
    output.end()
    expect(pieces.join('')).toBe(TEXT)
    expect(output.text()).toBe(TEXT)
    expect(pieces.every((piece) => piece.isWellFormed() && !piece.includes('\ufffd'))).toBe(true)
  }
})

test('an unfinished character is flushed at the end', () => {
  const pieces: string[] = []
  const output = new OutputCollector({ onText: (text) => pieces.push(text) })
  output.push(Uint8Array.of(0x61, 0xf0, 0x9f))
  output.end()
  output.end()
  expect(pieces.join('')).toBe('a\ufffd')
  expect(output.text()).toBe('a\ufffd')
})

test('bytes beyond the limit are dropped and told, and still delivered live', () => {
  const pieces: string[] = []
  const output = new OutputCollector({ maxBytes: 4, onText: (text) => pieces.push(text) })
  output.push(new TextEncoder().encode('abc€def'))
  output.end()
  expect(output.text()).toBe('abc')
  expect(output.truncated).toBe(true)
  expect(pieces.join('')).toBe('abc€def')
})

test('exactly the limit is not truncated', () => {
  const output = new OutputCollector({ maxBytes: 3 })
  output.push(new TextEncoder().encode('abc'))
  expect(output.truncated).toBe(false)
  output.push(Uint8Array.of(0x64))
  expect(output.truncated).toBe(true)
  expect(output.text()).toBe('abc')
})

test('kept bytes do not change when the caller reuses its buffer', () => {
  const buffer = new TextEncoder().encode('abc')
  const output = new OutputCollector()
  output.push(buffer)
  buffer.fill(0)
  expect(output.text()).toBe('abc')
})

test('invalid bytes never throw', () => {
  const decoder = new Utf8TextDecoder()
  expect(decoder.write(Uint8Array.of(0xff, 0x61)) + decoder.end()).toBe('\ufffda')
})
