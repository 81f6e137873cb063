import { describe, expect, it } from 'vitest'
import { commandAgent } from '../../../src/agent/command-agent.ts'
import { isJournaled } from '../../../src/agent/journaled-adapter.ts'
import { cancelRun } from '../../../src/runs/cancel-run.ts'
import { DRIVER_LEASE_MS, heartbeatOf } from '../../../src/runs/heartbeat.ts'
import { takeOverRun } from '../../../src/runs/take-over-run.ts'
import { withSandbox } from '../../../src/session/with-sandbox.ts'
import { eventually, printing } from '../../fixtures/agent-fixture.ts'
import { otherHost, storedChunks, streamFor, terminalsOf, textOf } from '../../fixtures/chat-fixture.ts'
import { ownWiring, send } from '../../fixtures/own-wiring-fixture.ts'
import type { OwnWiring } from '../../fixtures/own-wiring-fixture.ts'

const said = (app: OwnWiring, text: string): Promise<void> =>
  eventually(async () => textOf(await storedChunks(app.stores, 'run-1')).includes(text))

describe('a command-line agent with TanStack’s own wiring', () => {
  it('hears of a cancel at once, though the chat has no signal of its own', async () => {
    const app = await ownWiring()
    const adapter = commandAgent({ command: printing(['one', 'two'], { pauseSeconds: 60 }), parse: 'text' })
    const sent = send(app, { adapter })
    await said(app, 'one')
    await cancelRun({ stores: app.stores, runId: 'run-1', clock: app.clock })
    await sent.response.text()
    const stored = await storedChunks(app.stores, 'run-1')
    expect(terminalsOf(stored)).toEqual(['RUN_ERROR'])
    expect(stored.at(-1)).toMatchObject({ code: 'RUN_CANCELLED' })
    expect(await app.stores.runs.get('run-1')).toMatchObject({ status: 'aborted' })
    expect(await app.service.existing()).toEqual([])
  })

  it('goes on without its host, and the next one adds what the log lacks', async () => {
    const app = await ownWiring()
    const agent = { command: printing(['one', 'two', 'three'], { pauseSeconds: 0.3 }), parse: 'text' } as const
    const sent = send(app, { adapter: commandAgent(agent) })
    await said(app, 'one')
    heartbeatOf(app.clock).remove(sent.session()!)
    await app.clock.advance(DRIVER_LEASE_MS + 1)
    const next = otherHost(app)
    const adapter = commandAgent(agent)
    const result = await takeOverRun({
      ...next,
      runId: 'run-1',
      driver: {
        tools: [],
        isJournaled: () => isJournaled(adapter),
        drive: (run) => streamFor(next.stores, run, { adapter, seen: [] }, [], [withSandbox(app.sandbox, { run })]),
      },
    })
    expect(result).toBe('taken-over')
    await eventually(async () => (await app.stores.runs.get('run-1'))?.status === 'completed')
    const stored = await storedChunks(app.stores, 'run-1')
    expect(textOf(stored).match(/one|two|three/g)).toEqual(['one', 'two', 'three'])
    expect(terminalsOf(stored)).toEqual(['RUN_FINISHED'])
    await sent.response.text()
    expect(await storedChunks(app.stores, 'run-1')).toEqual(stored)
  })
})
