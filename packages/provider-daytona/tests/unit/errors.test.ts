import { isHoldfastError, ProviderError } from '@holdfast/core'
import { describe, expect, test } from 'vitest'
import { isGone, mapDaytonaError } from '../../src/errors.ts'

function vendorError(fields: Record<string, unknown>, message = 'said no'): Error {
  return Object.assign(new Error(message), { name: 'DaytonaError' }, fields)
}

describe('mapDaytonaError', () => {
  test.each([
    [400, 'PROVIDER_FAILED', false],
    [401, 'PROVIDER_REFUSED', false],
    [402, 'PROVIDER_REFUSED', false],
    [403, 'PROVIDER_REFUSED', false],
    [404, 'SANDBOX_NOT_FOUND', false],
    [408, 'PROVIDER_TIMEOUT', true],
    [409, 'PROVIDER_UNAVAILABLE', true],
    [422, 'PROVIDER_FAILED', false],
    [429, 'PROVIDER_RATE_LIMITED', true],
    [500, 'PROVIDER_UNAVAILABLE', true],
    [502, 'PROVIDER_UNAVAILABLE', true],
    [504, 'PROVIDER_UNAVAILABLE', true],
    [599, 'PROVIDER_UNAVAILABLE', true],
    [302, 'PROVIDER_FAILED', false],
  ])('status %i is %s', (statusCode, code, retryable) => {
    const mapped = mapDaytonaError(vendorError({ statusCode }), 'sandbox read')
    expect(mapped).toMatchObject({ code, retryable, details: { statusCode, operation: 'sandbox read' } })
  })

  test.each([
    ['a connection that failed', vendorError({ name: 'DaytonaConnectionError' }), 'PROVIDER_UNAVAILABLE'],
    ['a client deadline', vendorError({ name: 'DaytonaConnectionTimeoutError' }), 'PROVIDER_TIMEOUT'],
    ['a wait that expired', vendorError({ name: 'DaytonaTimeoutError' }), 'PROVIDER_TIMEOUT'],
    [
      'an event instead of an error',
      { type: 'error', message: 'Unexpected server response: 404' },
      'PROVIDER_UNAVAILABLE',
    ],
    ['missing credentials', vendorError({ name: 'DaytonaAuthenticationError' }), 'PROVIDER_REFUSED'],
    ['a plain error', new Error('Unexpected end of form'), 'PROVIDER_FAILED'],
    ['an unknown code', vendorError({ statusCode: 418, code: 'TEAPOT' }), 'PROVIDER_FAILED'],
    ['an answer that broke off', vendorError({ statusCode: 200 }), 'PROVIDER_UNAVAILABLE'],
    ['nothing', undefined, 'PROVIDER_UNAVAILABLE'],
  ])('%s is %s', (_title, error, code) => {
    expect(mapDaytonaError(error, 'x')).toMatchObject({ code })
  })

  test('a web page with status 404 proves nothing about a sandbox', () => {
    const page = vendorError({ statusCode: 404, headers: { 'content-type': 'text/html; charset=utf-8' } })
    expect(isGone(mapDaytonaError(page, 'x'))).toBe(false)
  })

  test('Retry-After becomes milliseconds', () => {
    const error = vendorError({ statusCode: 429, headers: { 'retry-after': '7' } })
    expect(mapDaytonaError(error, 'x').details['retryAfterMs']).toBe(7_000)
  })

  test('a lost reason is said in words', () => {
    const error = vendorError({ name: 'DaytonaConnectionError' }, '[object Object]')
    expect(mapDaytonaError(error, 'terminal open').message).not.toContain('[object')
  })

  test('credentials of a failed handshake are not kept', () => {
    const event = { message: 'Unexpected server response: 401', target: { headers: { Authorization: 'Bearer key' } } }
    expect(
      JSON.stringify(mapDaytonaError(event, 'x').cause, Object.getOwnPropertyNames(Error.prototype)),
    ).not.toContain('key')
    expect(Reflect.get(mapDaytonaError(event, 'x').cause as object, 'target')).toBeUndefined()
  })

  test('a Holdfast error passes through', () => {
    const error = new ProviderError('SANDBOX_STOPPED', 'x')
    expect(mapDaytonaError(error, 'x')).toBe(error)
    expect(isHoldfastError(error)).toBe(true)
  })
})
