import type { Clock } from '@holdfast/core'
import { describe, expect, it } from 'vitest'
import { reapRuns } from '../../../src/reap/reap-runs.ts'
import { beginRun } from '../../../src/runs/begin-run.ts'
import { cancelRun } from '../../../src/runs/cancel-run.ts'
import { DRIVER_LEASE_MS, heartbeatOf } from '../../../src/runs/heartbeat.ts'
import type { Run } from '../../../src/runs/run.ts'
import { stopRuns } from '../../../src/runs/stop-runs.ts'
import {
  chatFixture,
  chatRequest,
  otherHost,
  startChat,
  storedChunks,
  streamFor,
  terminalsOf,
} from '../../fixtures/chat-fixture.ts'
import type { ChatFixture } from '../../fixtures/chat-fixture.ts'
import { gate, settled } from '../../fixtures/gate.ts'
import type { Gate } from '../../fixtures/gate.ts'
import { never } from '../../fixtures/reap-fixture.ts'
import { scriptedModel } from '../../fixtures/scripted-model.ts'
import type { RunDriver } from '../../../src/runs/run-driver.ts'

/** The order in which runs began, over all hosts. */
function recordedDriver(stores: ChatFixture['stores'], began: string[]): RunDriver {
  return {
    tools: [],
    drive(run) {
      began.push(run.runId)
      return streamFor(stores, run, scriptedModel([[{ say: `answer to ${run.runId}` }]]), [])
    },
  }
}

interface BusyThread {
  /** Opened, the run that holds the thread ends. */
  held: Gate
  began: string[]
  driver: RunDriver
}

async function busyThread(fixture: ChatFixture): Promise<BusyThread> {
  const held = gate()
  const began: string[] = []
  const first = await startChat(fixture, { turns: [[{ wait: () => held.opened }]] })
  void first.run.drive(first.stream)
  return { held, began, driver: recordedDriver(fixture.stores, began) }
}

async function drive(run: Run, driver: RunDriver): Promise<void> {
  await run.drive(driver.drive(run, { forwardedProps: {} }))
}

const queue = (
  fixture: Pick<ChatFixture, 'stores'> & { clock: Clock },
  runId: string,
  driver?: RunDriver,
): Promise<Run> => {
  const chat = chatRequest(runId, `question of ${runId}`)
  return beginRun({ ...fixture, chat, whenBusy: 'queue', ...(driver === undefined ? {} : { driver }) })
}

async function until(fixture: ChatFixture, condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if (await condition()) return
    await fixture.clock.advance(100)
  }
  throw new Error('It did not come about.')
}

describe('a send in queue mode', () => {
  it('begins at once on a free thread, and leaves nothing of a queue behind', async () => {
    const fixture = chatFixture()
    const began: string[] = []
    const driver = recordedDriver(fixture.stores, began)
    await drive(await queue(fixture, 'run-1'), driver)
    expect(began).toEqual(['run-1'])
    expect(fixture.clock.pending).toBe(0)
    expect(await fixture.stores.metadata.get('holdfast-queue', 'thread-1')).toBeNull()
  })

  for (const hosts of [1, 2]) {
    it(`waits its turn: 20 at once on ${hosts} host(s) run in order, each exactly once`, async () => {
      const fixture = chatFixture()
      const began: string[] = []
      const driver = recordedDriver(fixture.stores, began)
      const all = Array.from({ length: hosts }, () => otherHost(fixture))
      const runIds = Array.from({ length: 20 }, (_, index) => `run-${index}`)
      const ended = runIds.map((runId, index) =>
        queue(all[index % hosts] ?? fixture, runId, driver).then((run) => drive(run, driver)),
      )
      let allEnded = false
      const done = Promise.all(ended).then(() => {
        allEnded = true
      })
      await until(fixture, () => allEnded)
      await done
      const order = (await fixture.stores.messages.loadThread('thread-1'))
        .filter((message) => message.role === 'user')
        .map((message) => message.content)
      expect(order).toEqual(began.map((runId) => `question of ${runId}`))
      expect(began.toSorted()).toEqual(runIds.toSorted())
      if (hosts === 1) expect(began).toEqual(runIds)
      for (const runId of runIds) {
        expect(await fixture.stores.runs.get(runId)).toMatchObject({ status: 'completed', driverEpoch: 1 })
        expect(terminalsOf(await storedChunks(fixture.stores, runId))).toEqual(['RUN_FINISHED'])
      }
      expect(await fixture.stores.metadata.get('holdfast-queue', 'thread-1')).toBeNull()
      expect(await fixture.stores.metadata.get('holdfast-queues', 'threads')).toEqual([])
      expect(await fixture.stores.metadata.get('holdfast-queued-send', 'run-7')).toBeNull()
      await fixture.clock.advance(1_000)
      expect(fixture.clock.pending).toBe(0)
    })
  }

  it('keeps the order of arrival across hosts', async () => {
    const fixture = chatFixture()
    const { held, began, driver } = await busyThread(fixture)
    const hosts = [otherHost(fixture), otherHost(fixture)]
    const waiting: Promise<void>[] = []
    for (let index = 2; index < 8; index += 1) {
      const host = hosts[index % 2] ?? fixture
      waiting.push(queue(host, `run-${index}`).then((run) => drive(run, driver)))
      await settled()
    }
    held.open()
    let isDone = false
    void Promise.all(waiting).then(() => {
      isDone = true
    })
    await until(fixture, () => isDone)
    expect(began).toEqual(['run-2', 'run-3', 'run-4', 'run-5', 'run-6', 'run-7'])
  })

  it('does not hold up another thread', async () => {
    const fixture = chatFixture()
    await startChat(fixture, { turns: [[{ wait: never }]] })
    const other = chatRequest('other', 'hello', { threadId: 'thread-2' })
    expect((await beginRun({ ...fixture, chat: other, whenBusy: 'queue' })).runId).toBe('other')
  })

  it('keeps its place when it is sent again, and is still run once', async () => {
    const fixture = chatFixture()
    const { held, began, driver } = await busyThread(fixture)
    const lost = queue(fixture, 'run-2')
    lost.catch(() => undefined)
    await settled()
    const behind = queue(fixture, 'run-3').then((run) => drive(run, driver))
    await settled()
    const again = queue(fixture, 'run-2').then((run) => drive(run, driver))
    await settled()
    await expect(lost).rejects.toMatchObject({ code: 'DRIVER_HELD' })
    held.open()
    await Promise.all([again, behind])
    expect(began).toEqual(['run-2', 'run-3'])
  })

  it('is refused for a foreign thread, and when too many wait', async () => {
    const fixture = chatFixture()
    await startChat(fixture, { turns: [[{ wait: never }]] })
    const foreign = { ...fixture, chat: chatRequest('x'), whenBusy: 'queue' as const, tenant: { userId: 'eve' } }
    await expect(beginRun(foreign)).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' })
    for (let index = 0; index < 100; index += 1) queue(fixture, `waits-${index}`).catch(() => undefined)
    await settled(100)
    await expect(beginRun(foreign)).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' })
    await expect(queue(fixture, 'one-too-many')).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
  })

  it('is refused alone when it cannot begin, and the next one gets its turn', async () => {
    const fixture = chatFixture()
    const { held } = await busyThread(fixture)
    const chat = chatRequest('empty', '', { messages: [] })
    const empty = beginRun({ ...fixture, chat, whenBusy: 'queue' })
    empty.catch(() => undefined)
    await settled()
    const next = queue(fixture, 'run-2')
    await settled()
    held.open()
    await expect(empty).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect((await next).runId).toBe('run-2')
  })

  it('can be cancelled while it waits, and is never begun then', async () => {
    const fixture = chatFixture()
    const { held, began, driver } = await busyThread(fixture)
    const host = otherHost(fixture)
    const waiting = queue(host, 'run-2')
    waiting.catch(() => undefined)
    await settled()
    await cancelRun({ ...fixture, runId: 'run-2' })
    held.open()
    await fixture.clock.advance(2_000)
    await expect(waiting).rejects.toMatchObject({ code: 'RUN_CANCELLED' })
    expect(began).toEqual([])
    expect(await fixture.stores.runs.get('run-2')).toMatchObject({ status: 'aborted' })
    expect(terminalsOf(await storedChunks(fixture.stores, 'run-2'))).toEqual(['RUN_ERROR'])
    await expect(queue(fixture, 'run-2', driver)).rejects.toMatchObject({ code: 'RUN_TERMINAL' })
  })
})

describe('a queue whose host is gone', () => {
  const withoutTimers = (clock: Clock): Clock => ({
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    schedule: () => () => undefined,
  })

  /** A host with a run and two sends behind it that stops existing. */
  async function deadQueue(fixture: ChatFixture): Promise<void> {
    const host = otherHost(fixture)
    const frozen = { ...host, clock: withoutTimers(host.clock) }
    const first = await startChat(host, { turns: [[{ say: 'half' }, { wait: never }]] })
    void first.run.drive(first.stream)
    await settled()
    for (const runId of ['run-2', 'run-3']) {
      queue(frozen, runId).catch(() => undefined)
      await settled()
    }
    heartbeatOf(fixture.clock).remove(first.run.session)
    await fixture.clock.advance(DRIVER_LEASE_MS + 1)
    expect(await fixture.stores.metadata.get('holdfast-queue', 'thread-1')).toHaveLength(2)
  }

  it('is carried on by the next reap, in order, after the run that held the thread', async () => {
    const fixture = chatFixture()
    await deadQueue(fixture)
    const began: string[] = []
    const driver = recordedDriver(fixture.stores, began)
    await reapRuns({ ...fixture, driver, detachedTtlMs: 3_600_000 })
    await until(fixture, async () => (await fixture.stores.runs.get('run-3'))?.status === 'completed')
    expect(began).toEqual(['run-1', 'run-2', 'run-3'])
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'completed', driverEpoch: 2 })
    await settled()
    expect(await fixture.stores.metadata.get('holdfast-queues', 'threads')).toEqual([])
    expect(fixture.clock.pending).toBe(0)
  })

  it('is carried on by the next send, which waits behind', async () => {
    const fixture = chatFixture()
    await deadQueue(fixture)
    const began: string[] = []
    const driver = recordedDriver(fixture.stores, began)
    const last = queue(fixture, 'run-4', driver).then((run) => drive(run, driver))
    await until(fixture, async () => (await fixture.stores.runs.get('run-4'))?.status === 'completed')
    await last
    expect(began).toEqual(['run-1', 'run-2', 'run-3', 'run-4'])
  })

  it('does not block a host that has no driver', async () => {
    const fixture = chatFixture()
    await deadQueue(fixture)
    const last = queue(fixture, 'run-4')
    await fixture.clock.advance(1_000)
    expect((await last).runId).toBe('run-4')
    expect(await fixture.stores.runs.get('run-2')).toBeNull()
  })

  it('passes on at once when the host shuts down in order', async () => {
    const fixture = chatFixture()
    const host = otherHost(fixture)
    const { held, began, driver } = await busyThread(fixture)
    const waiting = queue(host, 'run-2')
    waiting.catch(() => undefined)
    await settled()
    await stopRuns(host.stores)
    await expect(waiting).rejects.toMatchObject({ code: 'CANCELLED' })
    held.open()
    await settled()
    await reapRuns({ ...fixture, driver, detachedTtlMs: 3_600_000 })
    await until(fixture, async () => (await fixture.stores.runs.get('run-2'))?.status === 'completed')
    expect(began).toEqual(['run-2'])
  })
})

describe('cancel-previous', () => {
  it('ends the run that holds the thread, here or on another host, and begins', async () => {
    const fixture = chatFixture()
    for (const [index, host] of [fixture, otherHost(fixture)].entries()) {
      const threadId = `thread-${index}`
      const first = await startChat(host, {
        turns: [[{ say: 'a' }, { wait: never }]],
        request: chatRequest(`old-${index}`, 'hello', { threadId }),
      })
      void first.run.drive(first.stream)
      await settled()
      const chat = chatRequest(`new-${index}`, 'no, this', { threadId })
      const next = beginRun({ ...fixture, chat, whenBusy: 'cancel-previous' })
      await fixture.clock.advance(3_000)
      expect((await next).runId).toBe(`new-${index}`)
      expect(await fixture.stores.runs.get(`old-${index}`)).toMatchObject({ status: 'aborted' })
    }
  })

  it('gives up with THREAD_BUSY when that run does not end', async () => {
    const fixture = chatFixture()
    const { run } = await startChat(otherHost(fixture), { turns: [[{ wait: never }]] })
    run.session.markEnded()
    const next = beginRun({ ...fixture, chat: chatRequest('run-2'), whenBusy: 'cancel-previous' })
    next.catch(() => undefined)
    await fixture.clock.advance(31_000)
    await expect(next).rejects.toMatchObject({ code: 'THREAD_BUSY' })
  })
})
