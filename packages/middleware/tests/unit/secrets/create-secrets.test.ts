import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createSecrets, secretEnv, secretValue } from '../../../src/secrets/create-secrets.ts'
import { bearer } from '../../../src/secrets/bearer-secret.ts'

const VALUE = 'tok-8h2k9s0d7f'

describe('createSecrets refuses', () => {
  it.each(['', 'abc', 'seven77', 'password', 'PASSWORD', 'aaaaaaaaaaaa', 'abababababab', 'sandboxes', '12345678'])(
    'the weak value %j, without quoting it',
    (value) => {
      const error = caught(() => createSecrets({ TOKEN: value }))
      expect(error).toMatchObject({ code: 'SECRET_TOO_WEAK' })
      if (value !== '') expect((error as Error).message).not.toContain(`"${value}"`)
    },
  )

  it.each(['A;touch x', '1A', '', 'A=B', 'A B'])('the name %j', (name) => {
    expect(() => createSecrets({ [name]: VALUE })).toThrow(expect.objectContaining({ code: 'INVALID_ENV_NAME' }))
  })
})

describe('createSecrets keeps the value', () => {
  const secrets = createSecrets({ TOKEN: VALUE })

  it.each([
    ['JSON', () => JSON.stringify([secrets, secrets.TOKEN, bearer(secrets.TOKEN)])],
    ['inspect', () => inspect([secrets, bearer(secrets.TOKEN)], { depth: 9, showHidden: true })],
    ['a clone', () => inspect(structuredClone(secrets), { depth: 9 })],
    ['the own keys', () => String(Reflect.ownKeys(secrets).concat(Reflect.ownKeys(secrets.TOKEN)))],
  ])('out of %s', (_where, show) => {
    expect(show()).not.toContain(VALUE)
  })

  it('for the resolver alone, also for a reference that came back from JSON', () => {
    expect(secretValue(secrets, secrets.TOKEN)).toBe(VALUE)
    expect(secretValue(secrets, JSON.parse(JSON.stringify(secrets.TOKEN)) as { secretName: string })).toBe(VALUE)
    expect(secretEnv(secrets)).toEqual({ TOKEN: VALUE })
  })

  it('and says clearly when a name is not declared', () => {
    const missing = expect.objectContaining({ code: 'SECRET_MISSING' })
    expect(() => secretValue(undefined, { secretName: 'TOKEN' })).toThrow(missing)
    expect(() => secretValue(secrets, { secretName: 'constructor' })).toThrow(missing)
  })
})

function caught(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error('The call was expected to throw.')
}
