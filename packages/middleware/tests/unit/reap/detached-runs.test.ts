import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createMemoryStores } from '@holdfast/core'
import { FakeClock } from '@holdfast/testing'
import { EventType } from '@tanstack/ai'
import type { StreamChunk } from '@tanstack/ai'
import { describe, expect, it } from 'vitest'
import { reapRuns } from '../../../src/reap/reap-runs.ts'
import { beginRun } from '../../../src/runs/begin-run.ts'
import { DRIVER_LEASE_MS } from '../../../src/runs/heartbeat.ts'
import { listSessions } from '../../../src/runs/session-registry.ts'
import { chatRequest } from '../../fixtures/chat-fixture.ts'
import { settled } from '../../fixtures/gate.ts'

const RUNS = 1_000
const MAX_BYTES_PER_RUN = 20 * 1_024

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function usedBytes(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

/** A run that has said something and goes on for a long time. */
async function* longStream(runId: string, signal: AbortSignal): AsyncGenerator<StreamChunk> {
  const ids = { runId, threadId: runId, timestamp: 1 }
  yield { type: EventType.RUN_STARTED, ...ids } as StreamChunk
  yield { type: EventType.TEXT_MESSAGE_CONTENT, messageId: 'm', delta: 'working', timestamp: 1 } as StreamChunk
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

describe('1,000 detached runs in one process', () => {
  it('cost at most 20 KiB each, one timer in all, and two lists a reap', { timeout: 60_000 }, async () => {
    const clock = new FakeClock()
    const stores = createMemoryStores({ clock })
    const before = usedBytes()
    const drives: Promise<void>[] = []
    for (let index = 0; index < RUNS; index += 1) {
      const runId = `run-${index}`
      const run = await beginRun({ stores, clock, chat: chatRequest(runId, 'hello', { threadId: runId }) })
      drives.push(run.drive(longStream(runId, run.session.controller.signal)))
      run.viewerLeft()
    }
    await settled()
    const bytesPerRun = (usedBytes() - before) / RUNS
    expect(listSessions(stores)).toHaveLength(RUNS)
    expect(bytesPerRun).toBeLessThan(MAX_BYTES_PER_RUN)
    expect(clock.pending).toBe(1)

    await clock.advance(2 * DRIVER_LEASE_MS)
    expect(clock.pending).toBe(1)
    const report = await reapRuns({ stores, clock, detachedTtlMs: 3_600_000 })
    expect(report.runs).toHaveLength(RUNS)
    expect(new Set(report.runs.map(({ outcome }) => outcome))).toEqual(new Set(['driven']))

    for (let reaps = 0; reaps < 3; reaps += 1) await reapRuns({ stores, clock, detachedTtlMs: 1, limit: RUNS })
    await clock.advance(2_000)
    await Promise.all(drives)
    expect(listSessions(stores)).toEqual([])
    expect(clock.pending).toBe(0)
    expect(await stores.drivers.list({ status: 'running', limit: 10 })).toEqual([])
  })
})
