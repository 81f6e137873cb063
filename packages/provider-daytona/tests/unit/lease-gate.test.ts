import { FakeClock } from '@holdfast/testing'
import { expect, test } from 'vitest'
import { LeaseGate } from '../../src/lease/lease-gate.ts'

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

test('work after a teardown is refused with what became of the sandbox', async () => {
  for (const [kind, code] of [
    ['destroyed', 'SANDBOX_NOT_FOUND'],
    ['parked', 'SANDBOX_STOPPED'],
    ['released', 'SANDBOX_CLOSED'],
  ] as const) {
    const gate = new LeaseGate(new FakeClock(), 's')
    await gate.close(kind, () => Promise.resolve())
    await expect(gate.pass(() => Promise.resolve())).rejects.toMatchObject({ code })
  }
})

test('a teardown waits for what runs, and work that comes meanwhile waits for the teardown', async () => {
  const gate = new LeaseGate(new FakeClock(), 's')
  const order: string[] = []
  const first = deferred()
  const work = gate.pass(async () => {
    await first.promise
    order.push('work')
  })
  const closing = gate.close('destroyed', async () => void order.push('teardown'))
  const late = gate.pass(async () => void order.push('late')).catch(() => order.push('refused'))
  first.resolve()
  await Promise.all([work, closing, late])
  expect(order).toEqual(['work', 'teardown', 'refused'])
})

test('a teardown does not wait for ever', async () => {
  const clock = new FakeClock()
  const gate = new LeaseGate(clock, 's')
  const stuck = gate.pass(() => new Promise(() => undefined))
  stuck.catch(() => undefined)
  let isDone = false
  const closing = gate.close('destroyed', async () => void (isDone = true))
  await clock.advance(4_999)
  expect(isDone).toBe(false)
  await clock.advance(1)
  await closing
  expect(isDone).toBe(true)
})

test('a failed teardown leaves the gate open', async () => {
  const gate = new LeaseGate(new FakeClock(), 's')
  await expect(gate.close('destroyed', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  await expect(gate.pass(() => Promise.resolve(1))).resolves.toBe(1)
})
