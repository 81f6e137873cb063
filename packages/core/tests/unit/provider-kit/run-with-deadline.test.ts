import { expect, test } from 'vitest'
import { runWithDeadline } from '../../../src/provider-kit/index.ts'
import { ManualClock } from '../../support/manual-clock.ts'

const never = (): Promise<never> => new Promise(() => {})

test('a promise that never settles is bounded, and the error names the operation', async () => {
  const clock = new ManualClock()
  let inner: AbortSignal | undefined
  const run = runWithDeadline({ operation: 'sandbox create', timeoutMs: 500, clock }, (signal) => {
    inner = signal
    return never()
  })
  clock.advance(500)
  await expect(run).rejects.toMatchObject({
    code: 'PROVIDER_TIMEOUT',
    details: { operation: 'sandbox create', timeoutMs: 500 },
  })
  await expect(run).rejects.toThrow('sandbox create')
  expect(inner?.aborted).toBe(true)
  expect(clock.pendingTimers).toBe(0)
})

test('a signal that is aborted before rejects with its reason and starts nothing', async () => {
  const reason = new Error('stop')
  let isStarted = false
  const run = runWithDeadline({ operation: 'x', timeoutMs: 5, signal: AbortSignal.abort(reason) }, () => {
    isStarted = true
  })
  await expect(run).rejects.toBe(reason)
  expect(isStarted).toBe(false)
})

test('an abort rejects with its reason and leaves no timer', async () => {
  const clock = new ManualClock()
  const controller = new AbortController()
  const run = runWithDeadline({ operation: 'x', timeoutMs: 5, signal: controller.signal, clock }, never)
  controller.abort('why')
  await expect(run).rejects.toBe('why')
  expect(clock.pendingTimers).toBe(0)
})

test('the result and the failure of the work pass through and leave no timer', async () => {
  const clock = new ManualClock()
  expect(await runWithDeadline({ operation: 'x', timeoutMs: 5, clock }, () => 7)).toBe(7)
  const failure = new Error('no')
  await expect(runWithDeadline({ operation: 'x', timeoutMs: 5, clock }, () => Promise.reject(failure))).rejects.toBe(
    failure,
  )
  expect(clock.pendingTimers).toBe(0)
})

test('a late failure of abandoned work is not an unhandled rejection', async () => {
  const clock = new ManualClock()
  let failLate: (error: Error) => void = () => {}
  const run = runWithDeadline(
    { operation: 'x', timeoutMs: 5, clock },
    () => new Promise((_, reject) => (failLate = reject)),
  )
  clock.advance(5)
  await expect(run).rejects.toMatchObject({ code: 'PROVIDER_TIMEOUT' })
  failLate(new Error('late'))
  await new Promise((resolve) => setImmediate(resolve))
})
