import type { ModelMessage } from '@tanstack/ai'

/** A transcript with everything that a store must keep: ids, times, tool calls, parts, delicate text. */
export function fullTranscript(): ModelMessage[] {
  return [
    {
      id: 'message-1',
      role: 'user',
      content: 'nul \0, lone \ud800, literal \\u0000, 😀',
      createdAt: new Date(1_700_000_000_123),
    },
    {
      id: 'message-2',
      role: 'assistant',
      content: null,
      thinking: [{ content: 'hm', signature: 'signed' }],
      toolCalls: [{ id: 'call-1', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } }],
      metadata: { tanstack: { nested: [1, { z: 1, a: 2 }] }, createdAt: '2024-01-01T00:00:00.000Z' },
    },
    { id: 'message-3', role: 'tool', toolCallId: 'call-1', content: 'a\nb', error: 'exit 1', name: 'bash' },
    { id: 'message-4', role: 'user', content: [{ type: 'text', content: 'look' }] },
    { role: 'assistant', content: '' },
  ]
}

export function textMessages(...texts: readonly string[]): ModelMessage[] {
  return texts.map((content, index) => ({ id: `message-${index}`, role: 'user', content }))
}
