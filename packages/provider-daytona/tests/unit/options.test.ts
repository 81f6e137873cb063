import { describe, expect, test } from 'vitest'
import { daytonaProvider, validateDaytonaOptions } from '../../src/index.ts'
import type { DaytonaOptions } from '../../src/index.ts'

function faultsOf(options: DaytonaOptions, env = {}): readonly string[] {
  const check = validateDaytonaOptions(options, env)
  return check.ok ? [] : check.faults
}

const key = { apiKey: 'k' }

describe('validateDaytonaOptions', () => {
  test('reports every fault at once', () => {
    const faults = faultsOf({
      image: ' ',
      snapshot: '',
      apiUrl: 'not a url',
      timeoutMs: 0,
      livenessTimeoutMs: 86_400_001,
      autoStopMinutes: -1,
      autoArchiveMinutes: -5,
      autoDeleteMinutes: -2,
      resources: { cpu: 0, memory: -1 },
      env: { 'A;B': 'x' },
    })
    expect(faults).toHaveLength(13)
    for (const word of ['apiKey', 'image is empty', 'snapshot is empty', 'apiUrl', 'timeoutMs', 'resources.memory']) {
      expect(faults.join('\n')).toContain(word)
    }
  })

  test.each<[string, DaytonaOptions]>([
    ['image and snapshot together', { ...key, image: 'a', snapshot: 'b' }],
    ['resources without an image', { ...key, resources: { cpu: 1 } }],
    ['resources with a snapshot alone', { ...key, snapshot: 's', resources: { cpu: 1 } }],
    ['a resource that is no number', { ...key, image: 'a', resources: { cpu: 'x' as unknown as number } }],
    ['a time-out above a day', { ...key, timeoutMs: 86_400_001 }],
    ['an ftp address', { ...key, apiUrl: 'ftp://x/api' }],
  ])('refuses %s', (_title, options) => {
    expect(faultsOf(options)).toHaveLength(1)
  })

  test('trims text, takes numbers as text, and falls back for unusable ones', () => {
    const check = validateDaytonaOptions(
      { apiKey: ' k ', target: '  ', timeoutMs: '1500', autoStopMinutes: 'soon', autoArchiveMinutes: Number.NaN },
      {},
    )
    expect(check).toMatchObject({
      ok: true,
      options: { apiKey: 'k', target: undefined, timeoutMs: 1500, autoStopMinutes: 15, autoArchiveMinutes: 60 },
    })
  })

  test('keeps 0 and -1 where they mean something', () => {
    const options = { ...key, autoStopMinutes: 0, autoArchiveMinutes: '0', autoDeleteMinutes: -1, livenessTimeoutMs: 0 }
    expect(validateDaytonaOptions(options, {})).toMatchObject({
      ok: true,
      options: { ...options, autoArchiveMinutes: 0 },
    })
  })

  test('defaults are safe for the quota', () => {
    expect(validateDaytonaOptions(key, {})).toMatchObject({
      ok: true,
      options: {
        timeoutMs: 300_000,
        livenessTimeoutMs: 30_000,
        autoStopMinutes: 15,
        autoArchiveMinutes: 60,
        autoDeleteMinutes: 10_080,
        afterRelease: 'stop',
      },
    })
  })

  test('takes key, address and target from the environment', () => {
    const env = { DAYTONA_API_KEY: 'k', DAYTONA_API_URL: 'https://x/api', DAYTONA_TARGET: 'eu' }
    expect(validateDaytonaOptions({}, env)).toMatchObject({
      ok: true,
      options: { apiKey: 'k', apiUrl: 'https://x/api', target: 'eu' },
    })
  })
})

describe('daytonaProvider', () => {
  test('names every fault in one error without the key', () => {
    expect(() => daytonaProvider({ apiKey: 'secret-key', apiUrl: 'x', timeoutMs: -1 })).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIGURATION', message: expect.not.stringContaining('secret-key') }),
    )
  })

  test('ignores resources beside a snapshot', () => {
    expect(daytonaProvider({ ...key, snapshot: 's', resources: { cpu: 2 } }).name).toBe('daytona')
  })
})
