import type { ModelMessage } from '@tanstack/ai'
import { expect, test } from 'vitest'
import { demoTurn } from '../../lib/demo-model/demo-turn.ts'
import { reportOf } from '../../lib/demo-model/demo-text.ts'

const asked: ModelMessage = { role: 'user', content: 'Run these\n$ first --flag\nnot $ this\n $ nor this\n$ second' }

function answered(callId: string, content: string): ModelMessage[] {
  const call = { id: callId, type: 'function' as const, function: { name: 'bash', arguments: '{}' } }
  return [
    { role: 'assistant', content: null, toolCalls: [call] },
    { role: 'tool', content, toolCallId: callId },
  ]
}

test('lines that start with a dollar sign run in order, one a turn, and are then reported', () => {
  expect(demoTurn([asked])).toEqual({ turn: { kind: 'run', command: 'first --flag' }, index: 0 })
  const one = [asked, ...answered('c-0', '{"stdout":"1","stderr":"","exitCode":0}')]
  expect(demoTurn(one)).toEqual({ turn: { kind: 'run', command: 'second' }, index: 1 })
  const two = [...one, ...answered('c-1', '{"stdout":"","stderr":"no","exitCode":2}')]
  expect(demoTurn(two)).toEqual({
    turn: {
      kind: 'report',
      commands: [
        { command: 'first --flag', result: { output: '1', exitCode: 0 } },
        { command: 'second', result: { output: 'no', exitCode: 2 } },
      ],
    },
    index: 2,
  })
})

test('commands of earlier messages are not run again', () => {
  const messages = [
    asked,
    ...answered('c-0', '{}'),
    ...answered('c-1', '{}'),
    { role: 'user', content: 'Thanks' } as const,
  ]
  expect(demoTurn(messages).turn.kind).toBe('introduce')
})

test('a message in parts is read like one in a piece', () => {
  const message: ModelMessage = { role: 'user', content: [{ type: 'text', content: '$ echo hi' }] }
  expect(demoTurn([message]).turn).toEqual({ kind: 'run', command: 'echo hi' })
})

test('a command without an exit code did not finish, which is not exit code 0', () => {
  const messages = [{ ...asked, content: '$ gone' }, ...answered('c-0', '{"error":"The sandbox is gone."}')]
  const { turn } = demoTurn(messages)
  const report = turn.kind === 'report' ? reportOf(turn.commands) : ''
  expect(report).toContain('did not finish')
  expect(report).not.toContain('exit code')
})

test('output that holds a code fence stays inside the report', () => {
  const report = reportOf([{ command: 'cat `x`', result: { output: '```\ninner\n```', exitCode: 0 } }])
  expect(report).toContain('`` cat `x` ``')
  expect(report).toContain('````text\n```\ninner\n```\n````')
})

test('a published file is reported with its name', () => {
  const published = answered('c-0', '{"artifactId":"a-1","name":"notes.md","mimeType":"text/markdown","size":4}')
  const { turn } = demoTurn([{ ...asked, content: '$ publish notes.md' }, ...published])
  expect(turn.kind === 'report' ? reportOf(turn.commands) : '').toContain('published as notes.md')
})

test('a denied command is told as such, and those around it are run and reported', () => {
  const asked: ModelMessage = { role: 'user', content: '$ first\n$ rm -rf x\n$ third' }
  const ran = '{"stdout":"1","stderr":"","exitCode":0}'
  const denied = '{"approved":false,"error":"A person refused this call."}'
  const two = [asked, ...answered('c-0', ran), ...answered('c-1', denied)]
  expect(demoTurn(two).turn).toEqual({ kind: 'run', command: 'third' })
  const { turn } = demoTurn([...two, ...answered('c-2', ran)])
  const report = turn.kind === 'report' ? reportOf(turn.commands) : ''
  expect(report).toContain('I ran 2 commands; you denied one command.')
  expect(report).toContain('`rm -rf x`: denied, not run.')
})
