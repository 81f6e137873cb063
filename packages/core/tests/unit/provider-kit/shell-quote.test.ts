import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { isHoldfastError } from '../../../src/index.ts'
import { shellCommand, shellQuote } from '../../../src/provider-kit/index.ts'

test('a word with NUL is refused', () => {
  expect(() => shellQuote('a\0b')).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
})

test('an empty command is refused', () => {
  expect(() => shellCommand([])).toThrow(TypeError)
})

test('a refusal is a Holdfast error', () => {
  try {
    shellQuote('\0')
    expect.unreachable()
  } catch (error) {
    expect(isHoldfastError(error, 'INVALID_ARGUMENT')).toBe(true)
  }
})

test('a shell gives back every word exactly', () => {
  const words = [
    '',
    ' ',
    `'`,
    `''`,
    '"',
    '\\',
    '$(id)',
    '`id`',
    '$HOME',
    '-n',
    '~',
    '*',
    'a\nb',
    'a\tb',
    'ü€😀',
    '#',
    '!',
    ';',
  ]
  const command = shellCommand(['printf', '%s\\0', ...words])
  const output = execFileSync('/bin/sh', ['-c', command], { encoding: 'utf8' })
  expect(output.split('\0').slice(0, -1)).toEqual(words)
})
