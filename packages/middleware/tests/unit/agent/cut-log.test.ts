import { createMemoryStores } from '@holdfast/core'
import type { HoldfastStores } from '@holdfast/core'
import { FakeClock } from '@holdfast/testing'
import { RUN_ACCEPTED_EVENT } from '@tanstack/ai'
import type { ModelMessage, StreamChunk } from '@tanstack/ai'
import { expect, it } from 'vitest'
import type { CommandAgentOptions } from '../../../src/agent/command-agent.ts'
import { DRIVER_LEASE_MS } from '../../../src/runs/heartbeat.ts'
import { agentEvents, agentFixture, printing, startAgent, takeOver } from '../../fixtures/agent-fixture.ts'
import type { AgentFixture } from '../../fixtures/agent-fixture.ts'
import { AG_UI_LINES, CLAUDE_CODE_LINES, CODEX_LINES } from '../../fixtures/agent-lines.ts'
import { storedChunks, terminalsOf } from '../../fixtures/chat-fixture.ts'

const failing = `${printing(['some', 'words']).replace('exit 0', 'echo "out of memory" >&2; exit 9')}`

/** Read by polls, which cost one command where the agent has ended. */
const AGENTS: readonly [string, CommandAgentOptions][] = [
  ['text', { command: printing(['one', '', 'two 🙂']), parse: 'text', read: 'poll' }],
  ['tools', { command: printing(CLAUDE_CODE_LINES), parse: 'claude-code', read: 'poll' }],
  ['several tools', { command: printing(CODEX_LINES), parse: 'codex', read: 'poll' }],
  ['events', { command: printing(AG_UI_LINES), parse: 'ag-ui', read: 'poll' }],
  ['failure', { command: failing, parse: 'text', read: 'poll' }],
]

interface Recorded {
  chunks: StreamChunk[]
  transcript: ModelMessage[]
  status: string | undefined
  error: string | undefined
}

async function recordedBy(stores: HoldfastStores): Promise<Recorded> {
  const record = await stores.runs.get('run-1')
  return {
    chunks: await storedChunks(stores, 'run-1'),
    transcript: await stores.messages.loadThread('thread-1'),
    status: record?.status,
    error: record?.error?.message,
  }
}

/** The stores as they are when the host died right after it had stored these events, and this of the transcript. */
async function storesAfter(
  fixture: AgentFixture,
  chunks: readonly StreamChunk[],
  transcript: readonly ModelMessage[],
): Promise<AgentFixture> {
  const clock = new FakeClock()
  const { metadata, instances } = fixture.stores
  const stores = { ...createMemoryStores({ clock }), metadata, instances }
  await stores.threads.ensure({ threadId: 'thread-1', ownerId: 'local', title: 'hello' })
  await stores.drivers.claim({ runId: 'run-1', threadId: 'thread-1', owner: 'dead', ttlMs: DRIVER_LEASE_MS })
  await stores.messages.saveThread('thread-1', [...transcript])
  const log = stores.eventLog.open({ runId: 'run-1', epoch: 1 })
  await log.append([...chunks])
  await clock.advance(DRIVER_LEASE_MS + 1)
  return { ...fixture, stores, clock }
}

const withoutTimes = (messages: readonly ModelMessage[]): unknown[] =>
  messages.map(({ createdAt: _time, ...message }) => message)

it.each(AGENTS)(
  'a log of %s that was cut anywhere is completed to that of an undisturbed run',
  async (_, agent) => {
    const fixture = await agentFixture(agent)
    await (
      await startAgent(fixture)
    ).drive
    const whole = await recordedBy(fixture.stores)
    expect(terminalsOf(whole.chunks)).toHaveLength(1)
    expect(whole.chunks.length).toBeGreaterThan(8)

    // The transcript is stored just before the last event.
    const turn = whole.transcript.filter(({ role }) => role === 'user')
    const { length } = whole.chunks
    const points = [
      ...Array.from({ length }, (_item, count) => ({ count, transcript: turn })),
      { count: length - 1, transcript: whole.transcript },
      { count: length, transcript: whole.transcript },
    ]
    for (const { count, transcript } of points) {
      const cut = await storesAfter(fixture, whole.chunks.slice(0, count), transcript)
      const result = await takeOver(cut)
      const after = await recordedBy(cut.stores)
      expect({
        count,
        result,
        events: agentEvents(after.chunks),
        transcript: withoutTimes(after.transcript),
        status: after.status,
        error: after.error,
      }).toEqual({
        count,
        result: count === length ? 'settled' : 'taken-over',
        events: agentEvents(whole.chunks),
        transcript: withoutTimes(whole.transcript),
        status: whole.status,
        error: whole.error,
      })
      expect(after.chunks.filter((chunk) => Reflect.get(chunk, 'name') === RUN_ACCEPTED_EVENT)).toHaveLength(1)
      expect(await cut.stores.eventLog.find('run-1')).toMatchObject({ isClosed: true })
    }
  },
  60_000,
)
