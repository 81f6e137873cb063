import {
  genericInterruptContinuationFromDescriptor,
  modelMessagesToUIMessages,
  wrapGenericInterruptContinuation,
} from '@tanstack/ai'
import type { ModelMessage, StreamChunk } from '@tanstack/ai'
import { describe, expect, it } from 'vitest'
import { SecretRedactor } from '../../../src/secrets/secret-redactor.ts'
import { chatWith, resultsOf, toolsFixture } from './tools-fixture.ts'
import type { ToolsFixture } from './tools-fixture.ts'

type Interrupt = Parameters<typeof genericInterruptContinuationFromDescriptor>[0]

const policy = { default: 'allow', commands: { ask: ['touch *'], deny: ['rm *'] } } as const

const call = (command: string): { call: string; args: Record<string, unknown> } => ({ call: 'bash', args: { command } })

function interruptsOf(chunks: readonly StreamChunk[]): Interrupt[] {
  const last = chunks.at(-1) as { outcome?: { type: string; interrupts?: Interrupt[] } } | undefined
  return last?.outcome?.interrupts ?? []
}

async function pausedChat(f: ToolsFixture, commands: string[]): Promise<Interrupt[]> {
  const chunks = await chatWith({ turns: [commands.map(call), [{ say: 'done' }]], binding: f.binding({ policy }) })
  expect(resultsOf(chunks)).toEqual({})
  return interruptsOf(chunks)
}

/** The thread as it stands while the run is paused. */
function pausedThread(commands: string[]): ModelMessage[] {
  const toolCalls = commands.map((command, index) => ({
    id: `run-1-call-${index + 1}`,
    type: 'function' as const,
    function: { name: 'bash', arguments: JSON.stringify({ command }) },
  }))
  return [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: null, toolCalls },
  ]
}

async function resumed(
  f: ToolsFixture,
  commands: string[],
  answers: (unknown | 'cancelled')[],
): Promise<StreamChunk[]> {
  const asked = await pausedChat(f, commands)
  const messages = pausedThread(commands)
  const ids = new Map(messages[1]?.toolCalls?.map(({ id }, index) => [index, id]))
  const resume = asked.map((interrupt, index) => {
    const continuation = genericInterruptContinuationFromDescriptor(interrupt)
    const keyIndex = Number(continuation?.key.split('-').at(-1)) - 1
    const metadata = continuation && wrapGenericInterruptContinuation({ ...continuation, key: ids.get(keyIndex) ?? '' })
    const answer = answers[index]
    return answer === 'cancelled'
      ? { interruptId: interrupt.id, status: 'cancelled', metadata }
      : { interruptId: interrupt.id, status: 'resolved', payload: answer, metadata }
  })
  return chatWith({
    turns: [[{ say: 'done' }]],
    messages: modelMessagesToUIMessages(messages) as unknown as ModelMessage[],
    binding: f.binding({ policy }),
    resume,
    parentRunId: 'run-1',
  })
}

describe('a call that the policy denies', () => {
  it('gets an error result, runs nothing, and the run goes on', async () => {
    const f = await toolsFixture()
    await f.handle.fs.write('kept', 'x')
    const chunks = await chatWith({ turns: [[call('rm kept')], [{ say: 'done' }]], binding: f.binding({ policy }) })
    expect(Object.values(resultsOf(chunks))).toEqual([{ error: expect.stringContaining('policy denies') }])
    expect(await f.handle.fs.exists('kept')).toBe(true)
    expect(JSON.stringify(chunks)).toContain('done')
  })
})

describe('a call that the policy asks about', () => {
  it('pauses the run before any call of its turn runs, and shows what would be done without secrets', async () => {
    const f = await toolsFixture()
    const redactor = new SecretRedactor(['tok-8h2k9s'])
    const turns = [[call('echo first > log'), call('touch tok-8h2k9s')]]
    const chunks = await chatWith({ turns, binding: f.binding({ policy, redactor }) })
    const [interrupt, ...others] = interruptsOf(chunks)
    expect(others).toEqual([])
    expect(JSON.stringify(interrupt)).toContain('touch [redacted]')
    expect(JSON.stringify(interrupt)).toContain('"rule":"touch *"')
    expect(JSON.stringify(interrupt)).not.toContain('tok-8h2k9s')
    expect(await f.handle.fs.list('.')).toEqual([])
  })

  it('runs once a person has approved it, with the calls that waited for it', async () => {
    const f = await toolsFixture()
    const chunks = await resumed(f, ['echo first', 'touch made'], [{ approved: true }])
    expect(Object.values(resultsOf(chunks))).toMatchObject([{ stdout: 'first\n' }, { exitCode: 0 }])
    expect(await f.handle.fs.exists('made')).toBe(true)
    expect(JSON.stringify(chunks)).toContain('done')
  })

  it.each([
    ['refused', { approved: false, reason: 'Not today.' }, /refused.*Not today/],
    ['cancelled', 'cancelled', /refused/],
  ])('gets an error result when it was %s, and the others run', async (_how, answer, message) => {
    const f = await toolsFixture()
    const chunks = await resumed(f, ['echo first', 'touch made'], [answer])
    expect(Object.values(resultsOf(chunks))).toMatchObject([
      { stdout: 'first\n' },
      { approved: false, error: expect.stringMatching(message) },
    ])
    expect(await f.handle.fs.exists('made')).toBe(false)
  })

  it('is decided one by one when there are several', async () => {
    const f = await toolsFixture()
    const chunks = await resumed(f, ['touch a', 'touch b'], [{ approved: false }, { approved: true }])
    expect(Object.keys(resultsOf(chunks))).toHaveLength(2)
    expect([await f.handle.fs.exists('a'), await f.handle.fs.exists('b')]).toEqual([false, true])
  })

  it('gets an error result in a chat that cannot ask', async () => {
    const f = await toolsFixture()
    const turns = [[call('touch made')], [{ say: 'done' }]]
    const chunks = await chatWith({ turns, binding: f.binding({ policy }), isRegistered: false })
    expect(Object.values(resultsOf(chunks))).toEqual([{ error: expect.stringContaining('cannot ask') }])
    expect(await f.handle.fs.exists('made')).toBe(false)
  })
})
