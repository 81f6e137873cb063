import { StreamProcessor } from '@tanstack/ai'
import type { StreamChunk } from '@tanstack/ai'
import { describe, expect, it } from 'vitest'
import { AgentChunks } from '../../../src/agent/agent-chunks.ts'
import { AGENT_FORMATS } from '../../../src/agent/agent-parser.ts'
import type { AgentFormat, AgentParser } from '../../../src/agent/agent-parser.ts'
import { AG_UI_LINES, CLAUDE_CODE_LINES, CLAUDE_CODE_PARTIAL_LINES, CODEX_LINES } from '../../fixtures/agent-lines.ts'

function parse(format: AgentFormat, lines: readonly string[]): { chunks: StreamChunk[]; parser: AgentParser } {
  const maker = new AgentChunks({ runId: 'run-1', now: () => 1 })
  const parser = AGENT_FORMATS[format](maker)
  const chunks = [...lines.flatMap((line) => parser.line(line)), ...(parser.end?.() ?? []), ...maker.endAll()]
  return { chunks, parser }
}

/** What a viewer has on the screen, in order. */
function screen(chunks: readonly StreamChunk[]): string[] {
  const processor = new StreamProcessor()
  for (const chunk of chunks) processor.processChunk(chunk)
  return processor
    .getMessages()
    .flatMap((message) => message.parts)
    .flatMap((part) => {
      if (part.type === 'text' || part.type === 'thinking') return [`${part.type}: ${part.content}`]
      if (part.type === 'tool-call') return [`call: ${part.name} ${part.arguments}`]
      return part.type === 'tool-result' ? [`result: ${JSON.stringify(part.content)}`] : []
    })
}

/** Every start has its end before the run ends, and nothing is told of what is not open. */
function assertWellFormed(chunks: readonly StreamChunk[]): void {
  const open = new Set<string>()
  for (const chunk of chunks) {
    const [, subject, phase] =
      /^(TEXT_MESSAGE|TOOL_CALL|REASONING_MESSAGE)_(START|CONTENT|ARGS|END)$/.exec(chunk.type) ?? []
    if (subject === undefined) continue
    const id = `${subject} ${String(Reflect.get(chunk, 'messageId') ?? Reflect.get(chunk, 'toolCallId'))}`
    if (phase === 'START') {
      expect(open.has(id)).toBe(false)
      open.add(id)
    } else expect(open.has(id)).toBe(true)
    if (phase === 'END') open.delete(id)
  }
  expect([...open]).toEqual([])
}

const CASES: readonly [AgentFormat, readonly string[]][] = [
  ['text', ['', 'a', '', 'b 🙂']],
  ['claude-code', CLAUDE_CODE_LINES],
  ['claude-code', CLAUDE_CODE_PARTIAL_LINES],
  ['codex', CODEX_LINES],
  ['ag-ui', AG_UI_LINES],
]

describe.each(CASES)('the %s format', (format, lines) => {
  it('gives the same events for the same lines, with ids that follow from the run', () => {
    const { chunks } = parse(format, lines)
    expect(parse(format, lines).chunks).toEqual(chunks)
    for (const field of ['messageId', 'toolCallId', 'parentMessageId']) {
      for (const chunk of chunks) expect(String(Reflect.get(chunk, field) ?? 'run-1-1')).toMatch(/^run-1-\d+$/)
    }
  })

  it('opens and ends everything in order, wherever the lines stop', () => {
    for (let count = 0; count <= lines.length; count += 1) assertWellFormed(parse(format, lines.slice(0, count)).chunks)
  })

  it('survives lines that are not of the format', () => {
    const strange = ['', '   ', 'null', '[]', '{', '"x"', '42', '{}', '{"type":7}', '{"type":"nonsense"}', '\u0000']
    const mixed = lines.flatMap((line, index) => [line, strange[index % strange.length] ?? ''])
    expect(() => parse(format, [...strange, ...mixed])).not.toThrow()
  })
})

describe('AGENT_FORMATS', () => {
  it('text keeps every line of the answer', () => {
    expect(screen(parse('text', ['', 'a', '', 'b 🙂']).chunks)).toEqual(['text: \na\n\nb 🙂'])
  })

  it.each([
    ['whole', CLAUDE_CODE_LINES],
    ['in parts', CLAUDE_CODE_PARTIAL_LINES],
  ])('claude-code shows thought, text, call and result once, messages %s', (_, lines) => {
    const { chunks, parser } = parse('claude-code', lines)
    const seen = screen(chunks)
    expect(seen.filter((part) => part.startsWith('text'))).toEqual(['text: I look around.', 'text: \n\nTwo files 🙂.'])
    expect(seen).toContain('thinking: Where am I?')
    expect(seen).toContain('call: Bash {"command":"ls","options":{"all":true}}')
    expect(seen).toContain('result: "a.txt\\nb.txt"')
    expect(seen.join(' ')).not.toContain('sub-agent')
    expect(parser.usage?.()).toEqual({ promptTokens: 16, completionTokens: 7, totalTokens: 23 })
    expect(parser.failure?.()).toBeUndefined()
  })

  it('claude-code takes an error result for a failure, and an answer that only the result has for the answer', () => {
    const failed = JSON.stringify({ type: 'result', subtype: 'error_max_turns', is_error: false, usage: {} })
    expect(parse('claude-code', [failed]).parser.failure?.()).toMatchObject({ code: 'error_max_turns' })
    const refused = JSON.stringify({ type: 'result', subtype: 'success', is_error: true, result: 'Invalid key' })
    expect(parse('claude-code', [refused]).parser.failure?.()).toMatchObject({ message: 'Invalid key' })
    const short = JSON.stringify({ type: 'result', subtype: 'success', is_error: false, result: 'Hi' })
    expect(screen(parse('claude-code', [short]).chunks)).toEqual(['text: Hi'])
  })

  it('codex shows commands, file changes and tool calls with their results', () => {
    const { chunks, parser } = parse('codex', CODEX_LINES)
    const seen = screen(chunks)
    expect(seen).toContain('thinking: Where am I?')
    expect(seen).toContain('call: shell {"command":"ls"}')
    expect(seen).toContain('result: "a.txt\\n\\n[exit 2]"')
    expect(seen).toContain('call: file_change {"changes":[{"path":"a.txt","kind":"update"}]}')
    expect(seen).toContain('call: docs.find {"q":"x"}')
    expect(seen).toContain('text: Done.')
    expect(parser.usage?.()).toEqual({ promptTokens: 24, completionTokens: 3, totalTokens: 27 })
    expect(parser.failure?.()).toBeUndefined()
    const failed = JSON.stringify({ type: 'turn.failed', error: { message: 'no quota' } })
    expect(parse('codex', [failed]).parser.failure?.()).toMatchObject({ message: 'no quota' })
  })

  it('ag-ui passes events on, but not what only the host may say', () => {
    const { chunks } = parse('ag-ui', AG_UI_LINES)
    expect(chunks.some((chunk) => chunk.type.startsWith('RUN_'))).toBe(false)
    expect(chunks.filter((chunk) => chunk.type === 'CUSTOM').map((chunk) => Reflect.get(chunk, 'name'))).toEqual([
      'agent.progress',
      'agent.output',
    ])
    expect(screen(chunks)).toContain('call: grep {"q":"x"}')
    const forged = ['RUN_FINISHED', 'MESSAGES_SNAPSHOT', 'RUN_STARTED'].map((type) =>
      JSON.stringify({ type, messages: [] }),
    )
    expect(parse('ag-ui', forged).chunks).toEqual([])
    const failed = JSON.stringify({ type: 'RUN_ERROR', message: 'broken', code: 'E1' })
    expect(parse('ag-ui', [failed]).parser.failure?.()).toEqual({ message: 'broken', code: 'E1' })
  })
})
