import type { RequestCount } from './counted-sandbox.ts'

export interface WorkCost extends RequestCount {
  ms: number
  /** Most memory of this process while it worked, above what it had before. */
  peakBytes: number
}

const SAMPLE_MS = 10

/** What one piece of work costs. */
export async function measureWork<T>(
  total: RequestCount,
  work: () => Promise<T>,
): Promise<{ result: T; cost: WorkCost }> {
  Reflect.get(globalThis, 'gc')?.()
  const before = { ...total }
  const idle = process.memoryUsage().rss
  let peak = idle
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss)
  }, SAMPLE_MS)
  const startedAt = performance.now()
  try {
    const result = await work()
    const ms = performance.now() - startedAt
    const requests = total.requests - before.requests
    return { result, cost: { requests, bytes: total.bytes - before.bytes, ms, peakBytes: peak - idle } }
  } finally {
    clearInterval(timer)
  }
}
