import { inspect } from 'node:util'
import { isHoldfastError, ProviderError } from '@holdfast/core'
import { describe, expect, it } from 'vitest'
import { failingWithoutSecrets, redactedError } from '../../../src/secrets/redacted-error.ts'
import { SecretRedactor } from '../../../src/secrets/secret-redactor.ts'

const SECRET = 'abcDEF123456'
const redactor = new SecretRedactor([SECRET])

const shown = (error: unknown): string => inspect(error, { depth: 20, showHidden: true })

describe('an error without secrets', () => {
  it('is the same one when it shows none', () => {
    const error = new ProviderError('PROVIDER_FAILED', 'It failed.', { cause: new Error('why') })
    expect(redactedError(redactor, error)).toBe(error)
    expect(redactedError(undefined, error)).toBe(error)
  })

  it('keeps class, code and what a caller decides by', () => {
    const details = { stderr: `fatal: ${SECRET}`, exitCode: 3 }
    const error = new ProviderError('PROVIDER_FAILED', `It failed: ${SECRET}`, { details, retryable: true })
    const copy = redactedError(redactor, error)
    expect(copy).toBeInstanceOf(ProviderError)
    expect(isHoldfastError(copy, 'PROVIDER_FAILED')).toBe(true)
    expect(copy).toMatchObject({ name: 'ProviderError', message: 'It failed: [redacted]', retryable: true })
    expect(copy).toMatchObject({ details: { stderr: 'fatal: [redacted]', exitCode: 3 } })
    expect(shown(copy)).not.toContain(SECRET)
    expect(error.message).toContain(SECRET)
  })

  it('has none in its causes, in the errors that it joins, or in what is attached to it', () => {
    const response = new Response(null, { headers: { authorization: SECRET } })
    const vendor = Object.assign(new Error('vendor'), {
      config: { auth: [SECRET] },
      response,
      body: Buffer.from(SECRET),
    })
    const joined = new AggregateError([new Error(SECRET), SECRET], 'joined', { cause: vendor })
    const copy = redactedError(redactor, new Error('outer', { cause: joined }))
    expect(shown(copy)).not.toContain(SECRET)
    expect(copy).toMatchObject({
      message: 'outer',
      cause: { message: 'joined', cause: { config: { auth: ['[redacted]'] } } },
    })
  })

  it('ends where its causes go round in a circle', () => {
    const error = new Error(SECRET)
    error.cause = new Error('inner', { cause: error })
    expect(shown(redactedError(redactor, error))).not.toContain(SECRET)
  })

  it('is what thrown text becomes too', () => {
    expect(redactedError(redactor, `told ${SECRET}`)).toBe('told [redacted]')
  })

  it('is what methods fail with, those of a group included', async () => {
    const fail = (): Promise<void> => Promise.reject(new Error(SECRET))
    const target = failingWithoutSecrets(redactor, { fail, group: { fail }, answer: async () => SECRET })
    await expect(target.fail()).rejects.toThrow('[redacted]')
    await expect(target.group.fail()).rejects.toThrow('[redacted]')
    expect(await target.answer()).toBe(SECRET)
  })
})
