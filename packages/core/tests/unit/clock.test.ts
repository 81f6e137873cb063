import { afterEach, describe, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/index.ts'

const DAY_MS = 86_400_000

afterEach(() => {
  vi.useRealTimers()
})

describe('systemClock', () => {
  test('a timer that is longer than a timer of Node can be fires when it is due, once', () => {
    vi.useFakeTimers()
    let fired = 0
    systemClock.schedule(60 * DAY_MS, () => (fired += 1))
    vi.advanceTimersByTime(60 * DAY_MS - 1)
    expect(fired).toBe(0)
    vi.advanceTimersByTime(1)
    expect(fired).toBe(1)
    vi.advanceTimersByTime(60 * DAY_MS)
    expect(fired).toBe(1)
  })

  test('such a timer can be cancelled in each of its parts', () => {
    vi.useFakeTimers()
    let fired = 0
    for (const waitMs of [0, 30 * DAY_MS, 50 * DAY_MS]) {
      const cancel = systemClock.schedule(60 * DAY_MS, () => (fired += 1))
      vi.advanceTimersByTime(waitMs)
      cancel()
      cancel()
    }
    vi.advanceTimersByTime(200 * DAY_MS)
    expect(fired).toBe(0)
    expect(vi.getTimerCount()).toBe(0)
  })
})
