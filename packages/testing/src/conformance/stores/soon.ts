import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import type { StoreSubject } from '../store-subject.ts'

/** Longest real time for something that has nothing to wait for. Generous, because it only costs when a case fails. */
const SOON_MS = 10_000

/** What `promise` gives; fails when that takes real time that nothing accounts for. */
export async function soon<T>(promise: Promise<T>, what: string): Promise<T> {
  const stopWaiting = new AbortController()
  const late = wait(SOON_MS, undefined, { signal: stopWaiting.signal, ref: false }).then(
    () => assert.fail(`${what} did not happen`),
    () => undefined,
  )
  try {
    return (await Promise.race([promise, late])) as T
  } finally {
    stopWaiting.abort()
  }
}

/**
 * Work that goes on beside a case. When the case fails first, nobody is left to hear that this failed too, and it must
 * not end the process.
 */
export function meanwhile<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined)
  return work
}

/** Moves the store's time in steps until `promise` has settled; gives what it gives. Fails after `withinMs` of it. */
export async function advanceUntil<T>(
  subject: StoreSubject,
  promise: Promise<T>,
  { stepMs, withinMs, what }: { stepMs: number; withinMs: number; what: string },
): Promise<T> {
  let isSettled = false
  const settled = promise.then(
    () => (isSettled = true),
    () => (isSettled = true),
  )
  for (let passed = 0; passed < withinMs && !isSettled; passed += stepMs) {
    await subject.advance(stepMs)
    await Promise.race([settled, new Promise((resolve) => setImmediate(resolve))])
  }
  return soon(promise, what)
}
