import { isHoldfastError } from '@holdfast/core'
import { describe, expect, it } from 'vitest'
import { beginRun } from '../../../src/runs/begin-run.ts'
import { DRIVER_LEASE_MS } from '../../../src/runs/heartbeat.ts'
import { findSession, listSessions } from '../../../src/runs/session-registry.ts'
import {
  chatFixture,
  chatRequest,
  otherHost,
  startChat,
  storedChunks,
  terminalsOf,
} from '../../fixtures/chat-fixture.ts'
import { gate } from '../../fixtures/gate.ts'

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return isHoldfastError(error) ? error.code : `not refused: ${String(error)}`
}

describe('beginRun', () => {
  it('admits exactly one of 20 parallel sends on a thread and leaves no record of the others', async () => {
    const fixture = chatFixture()
    const hosts = [fixture, otherHost(fixture)]
    const sends = Array.from({ length: 20 }, (_, index) => {
      const { stores, clock } = hosts[index % 2] ?? fixture
      return beginRun({ stores, clock, chat: chatRequest(`run-${index}`) })
    })
    const results = await Promise.allSettled(sends)
    const refused = results.filter((result) => result.status === 'rejected')
    expect(refused).toHaveLength(19)
    for (const { reason } of refused) expect(isHoldfastError(reason, 'THREAD_BUSY')).toBe(true)
    expect(await fixture.stores.drivers.list({ limit: 100 })).toHaveLength(1)
  })

  it('admits sends on other threads while one thread is busy', async () => {
    const { stores, clock } = chatFixture()
    await beginRun({ stores, clock, chat: chatRequest('run-1') })
    const other = await beginRun({ stores, clock, chat: chatRequest('run-2', 'hi', { threadId: 'thread-2' }) })
    expect(other.threadId).toBe('thread-2')
  })

  it('refuses a run id that this process already drives, without raising its epoch', async () => {
    const { stores, clock } = chatFixture()
    const run = await beginRun({ stores, clock, chat: chatRequest('run-1') })
    expect(await codeOf(beginRun({ stores, clock, chat: chatRequest('run-1') }))).toBe('DRIVER_HELD')
    expect((await stores.runs.get('run-1'))?.driverEpoch).toBe(run.session.epoch)
  })

  it('refuses a run id of another thread', async () => {
    const { stores, clock } = chatFixture()
    await beginRun({ stores, clock, chat: chatRequest('run-1') })
    const second = beginRun({
      ...otherHost({ stores, clock }),
      chat: chatRequest('run-1', 'x', { threadId: 'thread-2' }),
    })
    expect(await codeOf(second)).toBe('RUN_CONFLICT')
  })

  it('treats a foreign thread as missing', async () => {
    const { stores, clock } = chatFixture()
    await stores.threads.ensure({ threadId: 'thread-1', ownerId: 'somebody-else' })
    expect(await codeOf(beginRun({ stores, clock, chat: chatRequest('run-1') }))).toBe('THREAD_NOT_FOUND')
    expect(await stores.runs.get('run-1')).toBeNull()
  })

  it('stores the turn and the thread before it answers', async () => {
    const { stores, clock } = chatFixture()
    await beginRun({ stores, clock, chat: chatRequest('run-1', 'build me a house') })
    expect(await stores.messages.loadThread('thread-1')).toMatchObject([{ role: 'user', content: 'build me a house' }])
    expect(await stores.threads.find('thread-1')).toMatchObject({ title: 'build me a house' })
  })

  it('leaves nothing behind of a request without messages', async () => {
    const { stores, clock } = chatFixture()
    const empty = beginRun({ stores, clock, chat: chatRequest('run-1', '', { messages: [] }) })
    expect(await codeOf(empty)).toBe('INVALID_ARGUMENT')
    expect(await stores.runs.get('run-1')).toBeNull()
    expect(await stores.threads.find('thread-1')).toBeNull()
  })

  it('ends the record it made when the turn cannot be taken', async () => {
    const { stores, clock } = chatFixture()
    await stores.messages.saveThread('thread-1', [{ role: 'assistant', id: 'a1', content: 'hello' }])
    const stale = chatRequest('run-1', '', { messages: [{ role: 'assistant', id: 'a1', content: 'hello' }] })
    expect(await codeOf(beginRun({ stores, clock, chat: stale }))).toBe('INVALID_ARGUMENT')
    expect(await stores.runs.get('run-1')).toMatchObject({ status: 'failed' })
    expect(findSession(stores, 'run-1')).toBeUndefined()
    const next = await beginRun({ stores, clock, chat: chatRequest('run-2') })
    expect(next.runId).toBe('run-2')
  })

  it('settles the run of a dead host and takes the thread', async () => {
    const fixture = chatFixture()
    const dead = otherHost(fixture)
    const held = gate()
    const { run, stream } = await startChat(dead, { turns: [[{ say: 'half a ' }, { wait: () => held.opened }]] })
    void run.drive(stream)
    await fixture.clock.advance(0)
    await killHost(dead, fixture)
    const next = await beginRun({ ...fixture, chat: chatRequest('run-2') })
    expect(next.runId).toBe('run-2')
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'failed', error: { code: 'HOST_LOST' } })
    const chunks = await storedChunks(fixture.stores, 'run-1')
    expect(terminalsOf(chunks)).toEqual(['RUN_ERROR'])
    const transcript = await fixture.stores.messages.loadThread('thread-1')
    expect(transcript.map((message) => message.content)).toEqual(['hello', 'half a ', 'hello'])
  })
})

/** A host that stops renewing: its sessions are dropped from the heartbeat and its lease passes. */
async function killHost(dead: ReturnType<typeof chatFixture>, fixture: ReturnType<typeof chatFixture>): Promise<void> {
  const { heartbeatOf } = await import('../../../src/runs/heartbeat.ts')
  for (const session of listSessions(dead.stores)) heartbeatOf(dead.clock).remove(session)
  await fixture.clock.advance(DRIVER_LEASE_MS + 1)
}
