import { sleep } from '@holdfast/core'
import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../../src/index.ts'

describe('FakeClock', () => {
  it('time moves only when it is advanced', async () => {
    const clock = new FakeClock(1_000)
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect([clock.now(), clock.monotonic()]).toEqual([1_000, 0])
    await clock.advance(250)
    expect([clock.now(), clock.monotonic()]).toEqual([1_250, 250])
  })

  it('timers fire in the order they are due, then in the order they were set, at their own time', async () => {
    const clock = new FakeClock(0)
    const fired: string[] = []
    for (const [name, ms] of [
      ['late', 30],
      ['early', 10],
      ['also early', 10],
      ['never', 41],
    ] as const) {
      clock.schedule(ms, () => fired.push(`${name} at ${clock.now()}`))
    }
    await clock.advance(40)
    expect(fired).toEqual(['early at 10', 'also early at 10', 'late at 30'])
    expect([clock.now(), clock.pending, clock.nextDueIn]).toEqual([40, 1, 1])
  })

  it('promise reactions run between timers, and timers that they set fire in the same advance', async () => {
    const clock = new FakeClock(0)
    const seen: string[] = []
    const chain = (async () => {
      for (let round = 0; round < 3; round += 1) {
        await sleep(clock, 10)
        seen.push(`chain at ${clock.now()}`)
      }
    })()
    clock.schedule(15, () => seen.push('timer at 15'))
    await clock.advance(30)
    await chain
    expect(seen).toEqual(['chain at 10', 'timer at 15', 'chain at 20', 'chain at 30'])
  })

  it('a cancelled timer does not fire, also when the timer before it cancels it', async () => {
    const clock = new FakeClock(0)
    const fired: string[] = []
    const cancel = clock.schedule(10, () => fired.push('cancelled'))
    clock.schedule(5, () => cancel())
    await clock.advance(20)
    cancel()
    expect([fired, clock.pending]).toEqual([[], 0])
  })

  it('a jump of the wall clock fires nothing and leaves monotonic time alone', async () => {
    const clock = new FakeClock(1_000)
    let hasFired = false
    clock.schedule(10, () => (hasFired = true))
    clock.jumpWallClock(60_000)
    await clock.advance(0)
    expect([clock.now(), clock.monotonic(), hasFired]).toEqual([61_000, 0, false])
  })

  it('a duration that is negative or no number is refused', async () => {
    const clock = new FakeClock()
    expect(() => clock.schedule(-1, () => undefined)).toThrow(TypeError)
    await expect(clock.advance(Number.NaN)).rejects.toThrow(TypeError)
  })
})
