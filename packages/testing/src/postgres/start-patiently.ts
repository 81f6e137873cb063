import { setTimeout as wait } from 'node:timers/promises'
import type { PostgresWatchdog } from './postgres-watchdog.ts'

const START_TRIES = 20
const RETRY_AFTER_MS = 100

/** Faults of a start that pass: another process took the port, or children of a killed server have not ended yet. */
const PASSING_FAULT = /could not bind|could not create any TCP|shared memory block|Address already in use/

/** Starts the server on the first port that works out, and gives that port. Faults that do not pass reject at once. */
export async function startPatiently(watchdog: PostgresWatchdog, nextPort: () => Promise<number>): Promise<number> {
  for (let left = START_TRIES - 1; ; left -= 1) {
    const port = await nextPort()
    try {
      await watchdog.start(port)
      return port
    } catch (error) {
      if (left === 0 || !PASSING_FAULT.test(watchdog.log)) throw error
    }
    await wait(RETRY_AFTER_MS)
  }
}
