import { createMemoryStores, OFFSET_START } from '@holdfast/core'
import type { HoldfastStores } from '@holdfast/core'
import { FakeClock } from '@holdfast/testing'
import type { StreamChunk } from '@tanstack/ai'
import { afterEach, describe, expect, it } from 'vitest'
import { attachRun } from '../../../src/runs/attach-run.ts'
import { DRIVER_LEASE_MS } from '../../../src/runs/heartbeat.ts'
import { eventsOf } from '../../fixtures/chat-fixture.ts'
import { settled } from '../../fixtures/gate.ts'

const chunk = { type: 'CUSTOM', name: 'x', value: {}, timestamp: 1 } as StreamChunk

const unhandled: unknown[] = []
const note = (error: unknown): void => void unhandled.push(error)
afterEach(() => {
  process.off('unhandledRejection', note)
  unhandled.length = 0
})

/** A run of another host with three events; `end` says how it stands. */
async function storedRun(
  stores: HoldfastStores,
  runId: string,
  end: 'completed' | 'interrupted' | 'running',
): Promise<void> {
  const { epoch } = await stores.drivers.claim({ runId, threadId: runId, owner: 'other', ttlMs: DRIVER_LEASE_MS })
  const log = stores.eventLog.open({ runId, epoch })
  await log.append([chunk, chunk, chunk])
  if (end === 'running') return
  await log.close()
  await stores.drivers.finish({ runId, epoch, status: end })
}

function request(runId: string, offset: string): Request {
  return new Request(`http://x/api/chat?runId=${runId}`, { headers: { 'Last-Event-ID': offset } })
}

describe('attachRun', () => {
  it('leaves no reader behind in the log of a run whose stream was taken up again in the middle', async () => {
    const stores = createMemoryStores({ retention: { closedLogs: 1 } })
    await storedRun(stores, 'run-1', 'completed')
    const [first] = await stores.eventLog.open({ runId: 'run-1' }).snapshot()
    const events = await eventsOf(await attachRun({ stores, request: request('run-1', String(first?.offset)) }))
    expect(events).toHaveLength(2)
    await settled()
    await storedRun(stores, 'run-2', 'completed')
    expect(await stores.eventLog.find('run-1')).toBeNull()
  })

  it('has no timer left once the stream of a run that paused is over', async () => {
    const clock = new FakeClock()
    const stores = createMemoryStores({ clock })
    await storedRun(stores, 'run-1', 'interrupted')
    await eventsOf(await attachRun({ stores, clock, request: request('run-1', OFFSET_START) }))
    await settled()
    expect(clock.pending).toBe(0)
  })

  it('takes no claim on a run that waits for a person, whose answer it would refuse', async () => {
    const stores = createMemoryStores()
    await storedRun(stores, 'run-1', 'interrupted')
    const before = await stores.runs.get('run-1')
    const response = await attachRun({ stores, request: request('run-1', OFFSET_START) })
    expect(await eventsOf(response)).toHaveLength(3)
    await settled()
    expect(before).toMatchObject({ status: 'interrupted', driverEpoch: 1 })
    expect(await stores.runs.get('run-1')).toEqual(before)
  })

  it('watches on, and breaks nothing, when the app’s driver fails at once', async () => {
    process.on('unhandledRejection', note)
    const clock = new FakeClock()
    const stores = createMemoryStores({ clock })
    await storedRun(stores, 'run-1', 'running')
    await stores.threads.ensure({ threadId: 'run-1', ownerId: 'local' })
    await clock.advance(DRIVER_LEASE_MS + 1)
    const driver = {
      tools: [],
      drive: () => {
        throw new Error('no model')
      },
    }
    const response = await attachRun({ stores, clock, driver, request: request('run-1', OFFSET_START) })
    const events = await eventsOf(response)
    expect(events.at(-1)?.chunk).toMatchObject({ type: 'RUN_ERROR', message: 'no model' })
    expect(await stores.runs.get('run-1')).toMatchObject({ status: 'failed' })
    expect(unhandled).toEqual([])
  })
})
