import type { CrashPlan } from './host-life.ts'
import { SeededRandom } from '../simulation/seeded-random.ts'

/** A death before and after each of a host's calls. */
export function pointsOf(calls: readonly string[]): CrashPlan[] {
  return calls.flatMap((name, index) =>
    (['before', 'after'] as const).map((when) => ({
      name: `${when} ${index + 1} ${name}`,
      crash: { call: index + 1, when },
    })),
  )
}

/** Deaths at moments within the time, the same ones for the same seed. */
export function momentsOf(seed: number, count: number, withinMs: number): CrashPlan[] {
  const random = new SeededRandom(seed)
  return Array.from({ length: count }, (_, index) => {
    const killAfterMs = random.whole(1, withinMs)
    return { name: `moment ${index} at ${killAfterMs} ms`, killAfterMs }
  })
}

/** So many of the items, evenly, with the first and the last. */
export function spread<T>(items: readonly T[], count: number): T[] {
  if (items.length <= count) return [...items]
  return Array.from({ length: count }, (_, index) => items[Math.round((index * (items.length - 1)) / (count - 1))] as T)
}
