import type { ModelMessage } from '@tanstack/ai'
import { commandResult } from './command-result.ts'
import type { CommandResult } from './command-result.ts'

export type DemoTurn =
  | { kind: 'introduce' }
  | { kind: 'run'; command: string }
  | { kind: 'report'; commands: { command: string; result: CommandResult }[] }

/** What the demo model does next, from the conversation alone, so that another host would decide the same. */
export function demoTurn(messages: readonly ModelMessage[]): { turn: DemoTurn; index: number } {
  const asked = messages.findLastIndex((message) => message.role === 'user')
  const commands = commandsOf(messages[asked])
  const answered = messages.slice(asked + 1)
  const results = new Map(
    answered.filter((message) => message.role === 'tool').map((message) => [message.toolCallId, message]),
  )
  const done = answered.flatMap((message) => message.toolCalls ?? []).map((call) => results.get(call.id))
  const next = commands[done.length]
  const index = done.length
  if (commands.length === 0) return { turn: { kind: 'introduce' }, index }
  if (next !== undefined) return { turn: { kind: 'run', command: next }, index }
  const report = commands.map((command, position) => ({ command, result: commandResult(done[position]) }))
  return { turn: { kind: 'report', commands: report }, index }
}

function commandsOf(message: ModelMessage | undefined): string[] {
  return textOf(message)
    .split(/\r?\n/)
    .filter((line) => line.startsWith('$ '))
    .map((line) => line.slice(2))
}

function textOf(message: ModelMessage | undefined): string {
  const content = message?.content ?? ''
  if (typeof content === 'string') return content
  return content.map((part) => (part.type === 'text' ? part.content : '')).join('\n')
}
