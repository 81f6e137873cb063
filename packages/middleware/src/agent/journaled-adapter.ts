/** Shared by every copy of this package in a process. */
const JOURNALED = Symbol.for('@holdfast/middleware/journaled')

/** Marks an adapter whose whole stream can be made again from its first byte. */
export function markJournaled<T extends object>(adapter: T): T {
  Object.defineProperty(adapter, JOURNALED, { value: true })
  return adapter
}

/** Whether a successor can replay what the adapter has streamed, instead of going on from the last stored step. */
export function isJournaled(adapter: object): boolean {
  return Reflect.get(adapter, JOURNALED) === true
}
