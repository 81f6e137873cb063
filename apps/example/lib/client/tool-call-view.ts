import type { UIMessage } from '@tanstack/ai-react'
import type { OutputSegment } from './run-activity.ts'

type ToolCall = Extract<UIMessage['parts'][number], { type: 'tool-call' }>

export interface ToolCallView {
  callId: string
  name: string
  /** What it does, in one line: the command, the path. */
  summary: string
  outcome: { kind: 'running' | 'waiting' | 'ok' | 'failed' | 'denied' | 'stopped'; label: string }
  output: readonly OutputSegment[]
}

/** Results by tool call, wherever in the thread they stand. */
export function toolResults(messages: readonly UIMessage[]): Map<string, string> {
  const results = new Map<string, string>()
  for (const { parts } of messages) {
    for (const part of parts) {
      if (part.type !== 'tool-result') continue
      const text = typeof part.content === 'string' ? part.content : JSON.stringify(part.content)
      results.set(part.toolCallId, part.error === undefined ? text : JSON.stringify({ error: part.error }))
    }
  }
  return results
}

/** A tool call as a person reads it: the result when there is one, else what is printed meanwhile. */
export function toolCallView(
  call: ToolCall,
  input: {
    result: string | undefined
    live: readonly OutputSegment[] | undefined
    isActive: boolean
    /** The turn waits for a person. */
    isWaiting: boolean
  },
): ToolCallView {
  const args = parseObject(call.arguments) ?? {}
  const view = { callId: call.id, name: call.name, summary: summaryOf(args) }
  const result = input.result ?? (call.output === undefined ? undefined : textOf(call.output))
  if (result === undefined) {
    return { ...view, outcome: outcomeWithoutResult(input), output: input.live ?? [] }
  }
  const value = parseObject(result)
  return { ...view, outcome: outcomeOf(value), output: outputOf(value, result) }
}

function outcomeWithoutResult(input: { isActive: boolean; isWaiting: boolean }): ToolCallView['outcome'] {
  if (input.isActive) return { kind: 'running', label: 'running' }
  return input.isWaiting ? { kind: 'waiting', label: 'waiting' } : { kind: 'stopped', label: 'no result' }
}

function summaryOf(args: Record<string, unknown>): string {
  for (const key of ['command', 'path', 'pattern', 'query', 'port', 'label']) {
    const value = args[key]
    if (typeof value === 'string' || typeof value === 'number') return String(value)
  }
  return Object.keys(args).length === 0 ? '' : JSON.stringify(args)
}

function outcomeOf(value: Record<string, unknown> | undefined): ToolCallView['outcome'] {
  const { exitCode, error, timedOut, approved } = value ?? {}
  if (approved === false) return { kind: 'denied', label: 'not approved' }
  if (timedOut === true) return { kind: 'failed', label: 'timed out' }
  if (typeof exitCode === 'number') return { kind: exitCode === 0 ? 'ok' : 'failed', label: `exit ${exitCode}` }
  if (error !== undefined) return { kind: 'failed', label: 'failed' }
  return { kind: 'ok', label: 'done' }
}

function outputOf(value: Record<string, unknown> | undefined, result: string): OutputSegment[] {
  if (value === undefined) return result === '' ? [] : [{ from: 'stdout', text: result }]
  const { stdout, stderr, error, content } = value
  const printed = [
    { from: 'stdout' as const, text: textOf(stdout) },
    { from: 'stderr' as const, text: textOf(stderr) },
    { from: 'stderr' as const, text: textOf(error) },
    { from: 'stdout' as const, text: textOf(content) },
  ].filter(({ text }) => text !== '')
  const isCommand = 'stdout' in value || 'exitCode' in value
  if (printed.length > 0 || isCommand) return printed
  return [{ from: 'stdout', text: JSON.stringify(value, null, 2) }]
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined
  } catch (error) {
    // Arguments arrive in pieces, and a result may be plain text.
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
