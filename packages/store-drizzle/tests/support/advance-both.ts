import { setTimeout as wait } from 'node:timers/promises'
import type { FakeClock } from '@holdfast/testing'

/** Real time for the answers to statements that a timer sent. */
const ANSWERS_MS = 10

/** Moves the database's time and the process's together, from timer to timer, so that a renewal meets the right time. */
export async function advanceBoth(clock: FakeClock, moveDatabase: (ms: number) => Promise<unknown>, ms: number) {
  let left = ms
  do {
    const step = Math.min(left, Math.max(1, clock.nextDueIn ?? left))
    await moveDatabase(step)
    await clock.advance(step)
    await wait(ANSWERS_MS)
    left -= step
  } while (left > 0)
}
