import { readJournal } from '@holdfast/core/provider-kit'
import { chat, StreamProcessor } from '@tanstack/ai'
import type { StreamChunk, UIMessage } from '@tanstack/ai'
import { describe, expect, it } from 'vitest'
import { findJournal } from '../../../src/agent/agent-journal.ts'
import { commandAgent } from '../../../src/agent/command-agent.ts'
import { pruneJournals } from '../../../src/agent/prune-journals.ts'
import { hydrateThread } from '../../../src/persistence/hydrate-thread.ts'
import { createSecrets } from '../../../src/secrets/create-secrets.ts'
import { defineWorkspace } from '../../../src/definition/define-workspace.ts'
import {
  agentEvents,
  agentFixture,
  bury,
  eventually,
  printing,
  sandboxOf,
  startAgent,
  takeOver,
} from '../../fixtures/agent-fixture.ts'
import type { AgentFixture, StartedAgent } from '../../fixtures/agent-fixture.ts'
import { AG_UI_LINES, CLAUDE_CODE_LINES } from '../../fixtures/agent-lines.ts'
import { storedChunks, terminalsOf, textOf } from '../../fixtures/chat-fixture.ts'

const SLOW = ['one', 'two', 'three', 'four']

/** Until the log shows this text. */
async function said({ host, run }: StartedAgent, text: string): Promise<void> {
  await eventually(async () => textOf(await storedChunks(host.stores, run.runId)).includes(text))
}

async function processesOf(fixture: AgentFixture): Promise<string> {
  const handle = await sandboxOf(fixture)
  if (handle === null) return ''
  const command = 'grep -l HOLDFAST_JOURNAL= /proc/[0-9]*/environ 2>/dev/null | xargs -r grep -l "$HOME"; true'
  return (await handle.process.exec(command)).stdout
}

async function timesRun(fixture: AgentFixture): Promise<number> {
  const handle = await sandboxOf(fixture)
  return (await handle?.fs.read('runs.log'))?.split('\n').filter((line) => line === 'ran').length ?? 0
}

describe('commandAgent', () => {
  it('refuses options and calls that cannot work', async () => {
    expect(() => commandAgent({ command: ' ', parse: 'text' })).toThrow(TypeError)
    expect(() => commandAgent({ command: 'true', parse: 'html' as 'text' })).toThrow(TypeError)
    const adapter = commandAgent({ command: 'true', parse: 'text' })
    const drained = (async () => {
      const stream = chat({ adapter, messages: [{ role: 'user', content: 'hi' }] } as never)
      for await (const _ of stream as AsyncIterable<StreamChunk>);
    })()
    await expect(drained).rejects.toBeInstanceOf(Error)
  })

  it('ends the run as failed, with the end of its errors, when the command fails', async () => {
    const command = `${printing(['half'])}`.replace('exit 0', 'echo "no such model" >&2; exit 3')
    const fixture = await agentFixture({ command, parse: 'text' })
    const { drive } = await startAgent(fixture)
    await drive
    const chunks = await storedChunks(fixture.stores, 'run-1')
    expect(terminalsOf(chunks)).toEqual(['RUN_ERROR'])
    expect(chunks.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'AGENT_FAILED' })
    expect(String(Reflect.get(chunks.at(-1) ?? {}, 'message'))).toContain('exit code 3.\nno such model')
    expect(chunks.at(-2)?.type).toBe('TEXT_MESSAGE_END')
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'failed', error: { code: 'AGENT_FAILED' } })
    const transcript = await fixture.stores.messages.loadThread('thread-1')
    expect(transcript.map(({ content }) => content)).toEqual(['hello', 'half'])
  })

  it('fails when the agent says that it failed, whatever its exit code', async () => {
    const line = JSON.stringify({ type: 'turn.failed', error: { message: 'no quota left' } })
    const fixture = await agentFixture({ command: printing([line]), parse: 'codex' })
    await (
      await startAgent(fixture)
    ).drive
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({
      status: 'failed',
      error: { message: 'no quota left' },
    })
  })

  it('asks what the person asked, by standard input or by file', async () => {
    for (const prompt of ['stdin', 'file'] as const) {
      const command = prompt === 'stdin' ? 'cat' : 'cat "$HOLDFAST_PROMPT_FILE"'
      const fixture = await agentFixture({ command, parse: 'text', prompt })
      const { drive } = await startAgent(fixture, 'run-1', `what's "this" $(x)\n🙂`)
      await drive
      expect(textOf(await storedChunks(fixture.stores, 'run-1'))).toBe(`what's "this" $(x)\n🙂`)
    }
  })

  it('stores text and tool calls in the transcript, and the next message works', async () => {
    const fixture = await agentFixture({ command: printing(CLAUDE_CODE_LINES), parse: 'claude-code' })
    await (
      await startAgent(fixture)
    ).drive
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'completed' })
    const transcript = await fixture.stores.messages.loadThread('thread-1')
    expect(transcript.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(transcript[1]?.toolCalls?.[0]?.function.name).toBe('Bash')
    expect(transcript[2]?.content).toBe('a.txt\nb.txt')
    expect(transcript[1]?.content).toBe('I look around.')
    expect(transcript[3]?.content).toBe('\n\nTwo files 🙂.')
    const live = new StreamProcessor()
    for (const chunk of await storedChunks(fixture.stores, 'run-1')) live.processChunk(chunk)
    const reloaded = await hydrateThread(fixture.stores, 'thread-1')
    expect(shownOrder(reloaded.messages)).toEqual(shownOrder(live.getMessages()))
    await (
      await startAgent(fixture, 'run-2', 'again')
    ).drive
    expect(await fixture.stores.runs.get('run-2')).toMatchObject({ status: 'completed' })
    expect(await fixture.stores.messages.loadThread('thread-1')).toHaveLength(8)
  })

  it('ends a run whose command prints nothing', async () => {
    const fixture = await agentFixture({ command: 'sleep 60', parse: 'text', firstByteTimeoutMs: 300 })
    await (
      await startAgent(fixture)
    ).drive
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({
      status: 'failed',
      error: { code: 'JOURNAL_STALLED' },
    })
    await eventually(async () => (await processesOf(fixture)) === '')
  })
})

/** What an agent said and did, as a person reads it. */
function shownOrder(messages: readonly UIMessage[]): string[] {
  const parts = messages.filter(({ role }) => role === 'assistant').flatMap((message) => message.parts)
  return parts.flatMap((part) => (part.type === 'text' ? [part.content] : part.type === 'tool-call' ? [part.name] : []))
}

describe('the command of a run', () => {
  it('goes on when the last viewer leaves', async () => {
    const fixture = await agentFixture({ command: printing(SLOW, { pauseSeconds: 0.2 }), parse: 'text' })
    const started = await startAgent(fixture)
    await said(started, 'one')
    started.run.viewerLeft()
    await started.drive
    expect(textOf(await storedChunks(fixture.stores, 'run-1'))).toBe('one\ntwo\nthree\nfour')
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'completed' })
  })

  it('is ended by a cancel, also where the sandbox is kept', async () => {
    const command = 'echo one; (setsid sleep 60 &); sleep 60'
    const fixture = await agentFixture({ command, parse: 'text' })
    const started = await startAgent(fixture)
    await said(started, 'one')
    expect(await processesOf(fixture)).not.toBe('')
    started.run.session.stop('cancel', { keepSandbox: true })
    await started.drive
    expect(await processesOf(fixture)).toBe('')
    expect(await sandboxOf(fixture)).not.toBeNull()
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'aborted' })
    expect(terminalsOf(await storedChunks(fixture.stores, 'run-1'))).toEqual(['RUN_ERROR'])
  })

  it('is not left in a sandbox that was to be kept, when it cannot be ended', async () => {
    const fixture = await agentFixture({ command: 'echo one; sleep 60', parse: 'text', read: 'follow' })
    const started = await startAgent(fixture)
    await said(started, 'one')
    fixture.faults.add({ on: 'exec', do: 'fail', times: 3 })
    started.run.session.stop('cancel', { keepSandbox: true })
    await started.drive
    fixture.faults.clear()
    expect(await sandboxOf(fixture)).toBeNull()
  })

  it.each(['host-stop', 'host-dies'] as const)(
    'goes on through %s, and a second host says all of it once',
    async (how) => {
      const fixture = await agentFixture({ command: printing(SLOW, { pauseSeconds: 0.25 }), parse: 'text' })
      const started = await startAgent(fixture)
      await said(started, 'one')
      if (how === 'host-stop') {
        started.run.session.stop('host-stop')
        await started.drive
      } else await bury(started)
      expect(await takeOver(fixture)).toBe('taken-over')
      const chunks = await storedChunks(fixture.stores, 'run-1')
      expect(textOf(chunks)).toBe('one\ntwo\nthree\nfour')
      expect(terminalsOf(chunks)).toEqual(['RUN_FINISHED'])
      expect(chunks.filter(({ type }) => type === 'RUN_STARTED')).toHaveLength(1)
      expect(await timesRun(fixture)).toBe(1)
      expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'completed', driverEpoch: 2 })
      const transcript = await fixture.stores.messages.loadThread('thread-1')
      expect(transcript.map(({ content }) => content)).toEqual(['hello', 'one\ntwo\nthree\nfour'])
    },
  )

  it('is not ended by a host that fails after another one took the run over', async () => {
    const fixture = await agentFixture({ command: printing(SLOW, { pauseSeconds: 0.4 }), parse: 'text' })
    const started = await startAgent(fixture)
    await said(started, 'one')
    await bury(started)
    const taking = takeOver(fixture)
    await eventually(async () => (await fixture.stores.runs.get('run-1'))?.driverEpoch === 2)
    await started.run.session.runEndHandler('agent', { status: 'failed', error: { message: 'no memory' } })
    expect(await taking).toBe('taken-over')
    expect(textOf(await storedChunks(fixture.stores, 'run-1'))).toBe('one\ntwo\nthree\nfour')
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'completed' })
  })

  it('is started once when its host dies before it knows whether the start took effect', async () => {
    const fixture = await agentFixture({ command: printing(SLOW, { pauseSeconds: 0.1 }), parse: 'text' })
    const started = await startAgent(fixture)
    await said(started, 'one')
    const record = await findJournal(fixture.stores, 'run-1')
    await fixture.stores.metadata.set('holdfast-journal', 'run-1', { ...record, isStarted: false })
    await bury(started)
    expect(await takeOver(fixture)).toBe('taken-over')
    expect(await timesRun(fixture)).toBe(1)
    expect(textOf(await storedChunks(fixture.stores, 'run-1'))).toBe('one\ntwo\nthree\nfour')
  })

  it('is not started again in a sandbox that replaced its own', async () => {
    const fixture = await agentFixture({ command: printing(SLOW, { pauseSeconds: 0.2 }), parse: 'text' })
    const started = await startAgent(fixture)
    await said(started, 'one')
    started.run.session.stop('host-stop')
    await started.drive
    for (const { sandboxId } of (await fixture.provider.list?.({ labels: {} })) ?? []) {
      await fixture.provider.destroy({ id: sandboxId })
    }
    expect(await takeOver(fixture)).toBe('taken-over')
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({
      status: 'failed',
      error: { code: 'JOURNAL_NOT_FOUND' },
    })
  })

  it('is replayed also where its output holds secrets that the log must not have', async () => {
    const secrets = createSecrets({ TOKEN: 'tok-9f8e7d6c5b4a' })
    const command = `echo "the token is $TOKEN, keep it"; sleep 0.4; echo "again $TOKEN"; sleep 0.2; echo end`
    const fixture = await agentFixture({ command, parse: 'text' }, { workspace: defineWorkspace({ secrets }) })
    const started = await startAgent(fixture)
    await said(started, 'keep')
    await bury(started)
    expect(await takeOver(fixture)).toBe('taken-over')
    const log = JSON.stringify(await storedChunks(fixture.stores, 'run-1'))
    expect(log).not.toContain('tok-9f8e7d6c5b4a')
    expect(textOf(await storedChunks(fixture.stores, 'run-1'))).toMatch(/^the token is .+, keep it\nagain .+\nend$/)
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({ status: 'completed' })
  })

  it('differs from its log only when somebody changed one of them, and then the run fails with a code', async () => {
    const fixture = await agentFixture({ command: printing(SLOW, { pauseSeconds: 0.2 }), parse: 'text' })
    const started = await startAgent(fixture)
    await said(started, 'one')
    await bury(started)
    const handle = await sandboxOf(fixture)
    await handle?.process.exec("sed -i 's/^one$/ONE/' .holdfast/journals/run-1.out")
    expect(await takeOver(fixture)).toBe('taken-over')
    expect(await fixture.stores.runs.get('run-1')).toMatchObject({
      status: 'failed',
      error: { code: 'REPLAY_DIVERGED' },
    })
  })
})

describe('the journal of a run', () => {
  it("can be read by whoever has the run's nonce", async () => {
    const fixture = await agentFixture({ command: printing(AG_UI_LINES), parse: 'ag-ui' })
    await (
      await startAgent(fixture)
    ).drive
    const handle = await sandboxOf(fixture)
    const record = await findJournal(fixture.stores, 'run-1')
    expect(record).toMatchObject({ isStarted: true })
    if (handle === null || record === null) throw new Error('There is no journal.')
    const lines: string[] = []
    for await (const item of readJournal({ handle, runId: 'run-1', nonce: record.nonce })) {
      if (item.type === 'line') lines.push(item.text)
    }
    expect(lines).toEqual(AG_UI_LINES)
    expect(agentEvents(await storedChunks(fixture.stores, 'run-1')).length).toBeGreaterThan(8)
  })

  it('is removed once its run has ended, and not before', async () => {
    const fixture = await agentFixture({ command: printing(SLOW, { pauseSeconds: 0.2 }), parse: 'text' })
    const { stores } = fixture
    const started = await startAgent(fixture)
    await said(started, 'one')
    const handle = await sandboxOf(fixture)
    if (handle === null) throw new Error('There is no sandbox.')
    expect(await pruneJournals({ stores, handle })).toEqual({
      removed: [],
      kept: [{ name: 'run-1', reason: 'not-terminal' }],
    })
    await started.drive
    expect(await pruneJournals({ stores, handle })).toEqual({ removed: ['run-1'], kept: [] })
    expect(await findJournal(stores, 'run-1')).toBeNull()
  })
})
