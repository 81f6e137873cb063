import { expect, test } from 'vitest'
import { assertEnvVars } from '../../../src/provider-kit/index.ts'

test.each(['', '1A', 'A=B', 'A;touch x', 'A B', 'A-B', 'é', 'A\n', '$(x)'])('the name %j is refused', (name) => {
  expect(() => assertEnvVars({ [name]: 'v' })).toThrow(expect.objectContaining({ code: 'INVALID_ENV_NAME' }))
})

test('a value with NUL is refused without being shown', () => {
  try {
    assertEnvVars({ TOKEN: 'hunter2\0' })
    expect.unreachable()
  } catch (error) {
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(JSON.stringify(error) + String(error)).not.toContain('hunter2')
  }
})

test('values are kept exactly, in a copy', () => {
  const vars = { A: `x '"$\n`, _b1: '' }
  const copy = assertEnvVars(vars)
  expect(copy).toEqual(vars)
  expect(copy).not.toBe(vars)
  expect(assertEnvVars(undefined)).toEqual({})
})
