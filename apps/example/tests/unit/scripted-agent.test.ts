import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ModelMessage } from '@tanstack/ai'
import { expect, onTestFinished, test } from 'vitest'
import { asksAgent } from '../../lib/scripted-agent/scripted-agent.ts'

const SCRIPT = join(import.meta.dirname, '../../lib/scripted-agent/agent.sh')

interface AgentEvent {
  type: string
  delta?: string
  content?: string
}

async function runAgent(
  request: string,
): Promise<{ status: number | null; errors: string; output: string; cwd: string }> {
  const cwd = await mkdtemp(join(tmpdir(), 'holdfast-agent-'))
  onTestFinished(() => rm(cwd, { recursive: true, force: true }))
  const env = { ...process.env, AGENT_PAUSE: '0' }
  const { status, stdout, stderr } = spawnSync('sh', [SCRIPT], { cwd, env, input: request, encoding: 'utf8' })
  return { status, errors: stderr, output: stdout, cwd }
}

test.each<[string, string[], boolean]>([
  ['the command alone', ['/agent'], true],
  ['a request', ['hello', '/agent do\nsomething'], true],
  ['an earlier request', ['/agent do something', 'thanks'], false],
  ['another word', ['/agents'], false],
  ['a mention', ['what does /agent do?'], false],
  ['nothing', [], false],
])('%s is for the agent or not', (_, texts, expected) => {
  const messages = texts.flatMap((content): ModelMessage[] => [
    { role: 'user', content },
    { role: 'assistant', content: '/agent said so' },
  ])
  expect(asksAgent(messages)).toBe(expected)
})

test('the agent writes down what it is asked as it stands, and tells of it in events', async () => {
  const request = `"quotes" \\ $(touch pwned) \`id\` * %s\n\ttab and 🙂`
  const { status, errors, output, cwd } = await runAgent(request)
  expect({ status, errors }).toEqual({ status: 0, errors: '' })
  const events = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as AgentEvent)
  expect(await readFile(join(cwd, 'notes.md'), 'utf8')).toBe(`${request}\n`)
  await expect(readFile(join(cwd, 'pwned'))).rejects.toMatchObject({ code: 'ENOENT' })
  const said = events.map(({ type, delta }) => (type === 'TEXT_MESSAGE_CONTENT' ? delta : '')).join('')
  expect(said).toMatch(/^I am a program in your sandbox\. .* your request is line 2 of notes\.md, .* said once\. $/)
  const results = events.filter(({ type }) => type === 'TOOL_CALL_RESULT').map(({ content }) => content ?? '')
  expect(results.map((result) => (JSON.parse(result) as { exitCode: number }).exitCode)).toEqual([0, 0, 0])
  expect(results[1]).toContain('🙂')
})

test('the agent that is asked nothing says so and fails', async () => {
  const { status, output } = await runAgent('')
  expect({ status, output }).toEqual({ status: 2, output: '' })
})
