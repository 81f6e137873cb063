import { isHoldfastError, sleep } from '@holdfast/core'
import type { Clock } from '@holdfast/core'

/** Waits before a store is asked again; together about the length of a database failover. */
const RETRY_DELAYS_MS = [100, 300, 1_000, 3_000, 6_000]

/** Repeats work that is safe to repeat while the store cannot be reached or its answers are lost. */
export async function retryStore<T>(clock: Clock, work: (isRepeated: boolean) => Promise<T>): Promise<T> {
  let isRepeated = false
  for (const delayMs of RETRY_DELAYS_MS) {
    try {
      return await work(isRepeated)
    } catch (error) {
      if (!mayRetry(error)) throw error
      await sleep(clock, delayMs)
      isRepeated = true
    }
  }
  return work(isRepeated)
}

function mayRetry(error: unknown): boolean {
  if (!isHoldfastError(error) || !error.code.startsWith('STORE_')) return false
  return error.retryable || error.code === 'STORE_OUTCOME_UNKNOWN'
}
