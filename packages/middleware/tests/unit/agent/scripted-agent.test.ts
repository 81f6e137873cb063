import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { agentFixture, bury, eventually, sandboxOf, startAgent, takeOver } from '../../fixtures/agent-fixture.ts'
import type { AgentFixture } from '../../fixtures/agent-fixture.ts'
import { storedChunks, terminalsOf, textOf } from '../../fixtures/chat-fixture.ts'

const SCRIPT = '.holdfast/agents/scripted.sh'

async function scriptedAgent(pauseSeconds: string): Promise<AgentFixture> {
  const script = await readFile(join(import.meta.dirname, '../../fixtures/scripted-agent.sh'), 'utf8')
  const agent = { command: `sh ${SCRIPT}`, parse: 'ag-ui' as const, env: { AGENT_PAUSE: pauseSeconds } }
  return agentFixture(agent, { fileEvents: true, hooks: { onReady: (handle) => handle.fs.write(SCRIPT, script) } })
}

it('an agent that works in the workspace is finished by a second host, and its work is done once', async () => {
  const fixture = await scriptedAgent('0.05')
  const started = await startAgent(fixture, 'run-1', `buy "milk" \\ and $(bread)\n🙂`)
  await eventually(async () => textOf(await storedChunks(fixture.stores, 'run-1')).includes('write'))
  await bury(started)
  expect(await takeOver(fixture)).toBe('taken-over')
  const chunks = await storedChunks(fixture.stores, 'run-1')
  expect(textOf(chunks)).toBe('I write that down: Your request is noted, in line 2. ')
  expect(terminalsOf(chunks)).toEqual(['RUN_FINISHED'])
  expect(chunks.filter(({ type }) => type === 'TOOL_CALL_START')).toHaveLength(1)
  expect(JSON.stringify(chunks)).not.toContain('agent.output')
  const call = (await fixture.stores.messages.loadThread('thread-1')).flatMap(({ toolCalls }) => toolCalls ?? [])[0]
  expect(JSON.parse(call?.function.arguments ?? '')).toEqual({ command: 'wc -l <notes.md' })
  const handle = await sandboxOf(fixture)
  expect(await handle?.fs.read('notes.md')).toBe(`buy "milk" \\ and $(bread)\n🙂\n`)

  await (
    await startAgent(fixture, 'run-2', 'more')
  ).drive
  expect(await handle?.fs.read('notes.md')).toContain('more\n')
  expect(await fixture.stores.runs.get('run-2')).toMatchObject({ status: 'completed' })
})

it('an agent that has nothing to do says so and fails', async () => {
  const fixture = await scriptedAgent('0')
  await (
    await startAgent({ ...fixture, agent: { ...fixture.agent, toPrompt: () => '' } })
  ).drive
  expect(await fixture.stores.runs.get('run-1')).toMatchObject({
    status: 'failed',
    error: { code: 'AGENT_FAILED', message: 'The agent ended with exit code 2.\nThere is nothing to do.' },
  })
})
