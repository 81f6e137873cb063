/** Refusals that an app has to live with. Anything else is a bug. */
const EXPECTED: ReadonlySet<string> = new Set([
  'THREAD_BUSY',
  'RUN_TERMINAL',
  'RUN_CANCELLED',
  'DRIVER_HELD',
  'DRIVER_LOST',
  // Somebody else has decided.
  'INTERRUPT_CONFLICT',
  'STORE_UNAVAILABLE',
  'STORE_OUTCOME_UNKNOWN',
  // A dead host holds its sandbox's lock until that lapses; who settles its run is told to come back.
  'LOCK_TIMEOUT',
])

export function isExpectedRefusal(code: string): boolean {
  return EXPECTED.has(code)
}
