import { ProviderError } from '@holdfast/core'
import { FakeClock } from '@holdfast/testing'
import { expect, it } from 'vitest'
import { keepAwake } from '../../../src/agent/keep-awake.ts'

it('keeps a sandbox awake until it is told to stop, also after a try that failed', async () => {
  const clock = new FakeClock()
  let calls = 0
  const refreshActivity = async (): Promise<void> => {
    calls += 1
    if (calls === 1) throw new ProviderError('SANDBOX_UNREACHABLE', 'no answer')
  }
  const stop = keepAwake({ refreshActivity }, clock)
  for (let minute = 1; minute <= 3; minute += 1) {
    await clock.advance(60_000)
    expect(calls).toBe(minute)
  }
  stop()
  await clock.advance(600_000)
  expect(calls).toBe(3)
})
