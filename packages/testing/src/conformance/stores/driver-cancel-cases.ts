import assert from 'node:assert/strict'
import type { CancelRequest } from '@holdfast/core'
import type { StoreSubject } from '../store-subject.ts'
import { claim, recordOf } from './driver-subject.ts'
import { advanceUntil, meanwhile, soon } from './soon.ts'
import { storeCase } from './store-case.ts'
import type { StoreCase } from './store-case.ts'

const NEVER = new AbortController().signal

/** A store without notifications looks again within two seconds of its time. */
function heard(subject: StoreSubject, waiting: Promise<CancelRequest>): Promise<CancelRequest> {
  return advanceUntil(subject, waiting, { stepMs: 500, withinMs: 2_500, what: 'the wake-up of onCancel' })
}

export const driverCancelCases: readonly StoreCase[] = [
  storeCase('driver.cancel.is-recorded', 'requestCancel records the wish and changes no status', async ({ stores }) => {
    await claim(stores.drivers)
    const before = await recordOf(stores)
    await stores.drivers.requestCancel({ runId: 'run-1' })
    await stores.drivers.requestCancel({ runId: 'run-1' })
    assert.deepEqual(await recordOf(stores), { ...before, cancelRequested: true })
    assert.deepEqual(await stores.drivers.findCancel('run-1'), { runId: 'run-1', keepSandbox: false })
  }),
  storeCase('driver.cancel.keep-sandbox', 'a cancel may ask to keep the sandbox', async ({ stores }) => {
    await claim(stores.drivers)
    await stores.drivers.requestCancel({ runId: 'run-1', keepSandbox: true })
    assert.deepEqual(await stores.drivers.findCancel('run-1'), { runId: 'run-1', keepSandbox: true })
  }),
  storeCase('driver.cancel.none-is-null', 'findCancel is null without a request', async ({ stores }) => {
    await claim(stores.drivers)
    assert.equal(await stores.drivers.findCancel('run-1'), null)
    assert.equal(await stores.drivers.findCancel('nothing'), null)
  }),
  storeCase('driver.cancel.unknown-or-ended', 'cancel of an unknown or ended run does nothing', async ({ stores }) => {
    await stores.drivers.requestCancel({ runId: 'nothing' })
    assert.equal(await stores.runs.get('nothing'), null)
    assert.equal(await stores.drivers.findCancel('nothing'), null)
    assert.equal((await claim(stores.drivers, { runId: 'nothing' })).epoch, 1)
    await stores.drivers.finish({ runId: 'nothing', epoch: 1, status: 'completed' })
    const ended = await recordOf(stores, 'nothing')
    await stores.drivers.requestCancel({ runId: 'nothing' })
    assert.deepEqual(await recordOf(stores, 'nothing'), ended)
    assert.equal(await stores.drivers.findCancel('nothing'), null)
  }),
  storeCase(
    'driver.cancel.by-record',
    'a cancelRequested that was written on the record counts as a request',
    async ({ stores }) => {
      await claim(stores.drivers)
      await stores.runs.update('run-1', { cancelRequested: true })
      assert.deepEqual(await stores.drivers.findCancel('run-1'), { runId: 'run-1', keepSandbox: false })
      await assert.rejects(claim(stores.drivers), { code: 'RUN_CANCELLED' })
      const heardOf = await soon(stores.drivers.onCancel('run-1', NEVER), 'onCancel')
      assert.deepEqual(heardOf, { runId: 'run-1', keepSandbox: false })
    },
  ),
  storeCase(
    'driver.on-cancel.requested-before',
    'onCancel resolves at once when cancel was requested before',
    async ({ stores }) => {
      await claim(stores.drivers)
      await stores.drivers.requestCancel({ runId: 'run-1', keepSandbox: true })
      const request = await soon(stores.drivers.onCancel('run-1', NEVER), 'onCancel')
      assert.deepEqual(request, { runId: 'run-1', keepSandbox: true })
    },
  ),
  storeCase('driver.on-cancel.wakes-every-waiter', 'onCancel wakes every waiter of the run', async (subject) => {
    const { drivers } = subject.stores
    await claim(drivers)
    const both = Promise.all([drivers.onCancel('run-1', NEVER), drivers.onCancel('run-1', NEVER)])
    const waiting = meanwhile(both.then(([request]) => request))
    await drivers.requestCancel({ runId: 'run-1' })
    assert.deepEqual(await heard(subject, waiting), { runId: 'run-1', keepSandbox: false })
  }),
  storeCase('driver.on-cancel.own-run-only', "onCancel does not hear other runs' cancels", async (subject) => {
    const { drivers } = subject.stores
    await claim(drivers)
    await claim(drivers, { runId: 'run-2', threadId: 'thread-2' })
    let hasHeard = false
    const hearing = drivers.onCancel('run-1', NEVER).then((request) => {
      hasHeard = true
      return request
    })
    const waiting = meanwhile(hearing)
    await drivers.requestCancel({ runId: 'run-2' })
    await heard(subject, drivers.onCancel('run-2', NEVER))
    await subject.advance(2_500)
    assert.equal(hasHeard, false)
    await drivers.requestCancel({ runId: 'run-1' })
    assert.equal((await heard(subject, waiting)).runId, 'run-1')
  }),
  storeCase(
    'driver.on-cancel.before-the-record',
    'onCancel may wait for a run that is not recorded yet',
    async (subject) => {
      const { drivers } = subject.stores
      const waiting = meanwhile(drivers.onCancel('run-1', NEVER))
      await claim(drivers)
      await drivers.requestCancel({ runId: 'run-1' })
      assert.equal((await heard(subject, waiting)).runId, 'run-1')
    },
  ),
  storeCase('driver.on-cancel.abort', "onCancel rejects with the signal's reason", async ({ stores }) => {
    await claim(stores.drivers)
    const reason = new Error('the run is over')
    const controller = new AbortController()
    const waiting = stores.drivers.onCancel('run-1', controller.signal)
    const outcome = meanwhile(assert.rejects(waiting, (error) => error === reason))
    controller.abort(reason)
    await soon(outcome, 'the end of onCancel')
    const again = assert.rejects(stores.drivers.onCancel('run-1', controller.signal), (error) => error === reason)
    await soon(again, 'the refusal of an aborted signal')
  }),
]
