import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { RequestCount } from './counted-sandbox.ts'

export interface WorkCost extends RequestCount {
  ms: number
  /** Most memory that the work held on to at a time: what a collection of garbage could not free, above what was held before. */
  heldBytes: number
}

const SAMPLE_MS = 100

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** What one piece of work costs. */
export async function measureWork<T>(
  total: RequestCount,
  work: () => Promise<T>,
): Promise<{ result: T; cost: WorkCost }> {
  const before = { ...total }
  const idle = heldBytes()
  let peak = idle
  const timer = setInterval(() => {
    peak = Math.max(peak, heldBytes())
  }, SAMPLE_MS)
  const startedAt = performance.now()
  try {
    const result = await work()
    const ms = performance.now() - startedAt
    const requests = total.requests - before.requests
    return { result, cost: { requests, bytes: total.bytes - before.bytes, ms, heldBytes: peak - idle } }
  } finally {
    clearInterval(timer)
  }
}

function heldBytes(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
