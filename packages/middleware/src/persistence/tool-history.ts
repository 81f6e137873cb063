import { EventType } from '@tanstack/ai'
import type { ModelMessage, StreamChunk } from '@tanstack/ai'

interface ObservedCall {
  toolCallId: string
  toolName: string
  args: string
  result: string | undefined
}

const OBSERVED = 'holdfastObserved'

/**
 * Tool calls that an agent made inside its own process: the engine neither ran them nor keeps them, yet a person wants to
 * see them after a reload. They are stored marked, and never shown to a model.
 */
export class ToolHistory {
  readonly #calls = new Map<string, ObservedCall>()

  observe(chunk: StreamChunk): void {
    const toolCallId: unknown = Reflect.get(chunk, 'toolCallId')
    if (typeof toolCallId !== 'string') return
    if (chunk.type === EventType.TOOL_CALL_START) this.#start(toolCallId, chunk)
    const call = this.#calls.get(toolCallId)
    if (call === undefined) return
    if (chunk.type === EventType.TOOL_CALL_ARGS) call.args += String(Reflect.get(chunk, 'delta') ?? '')
    if (chunk.type === EventType.TOOL_CALL_RESULT) call.result = String(Reflect.get(chunk, 'content') ?? '')
  }

  /**
   * The transcript with the observed calls that it lacks, in the order they ran, before the last assistant message. While
   * the run goes on, a call without a result may be one that the engine is about to make: it is left out.
   */
  addTo(messages: readonly ModelMessage[], now: number, options: { hasEnded: boolean }): ModelMessage[] {
    const known = new Set(messages.flatMap((message) => message.toolCalls?.map((call) => call.id) ?? []))
    const made = [...this.#calls.values()].filter((call) => options.hasEnded || call.result !== undefined)
    const missing = made.filter((call) => !known.has(call.toolCallId))
    if (missing.length === 0) return [...messages]
    const last = messages.at(-1)
    const head = last?.role === 'assistant' ? messages.slice(0, -1) : messages
    const tail = last?.role === 'assistant' ? [last] : []
    return [...head, ...missing.flatMap((call) => messagesOf(call, now)), ...tail]
  }

  #start(toolCallId: string, chunk: StreamChunk): void {
    if (this.#calls.has(toolCallId)) return
    const toolName = String(Reflect.get(chunk, 'toolCallName') ?? Reflect.get(chunk, 'toolName') ?? 'tool')
    this.#calls.set(toolCallId, { toolCallId, toolName, args: '', result: undefined })
  }
}

/** What a model may see: the transcript without calls that it did not make. */
export function withoutObserved(messages: readonly ModelMessage[]): ModelMessage[] {
  return messages.filter((message) => message.metadata?.[OBSERVED] !== true)
}

function messagesOf(call: ObservedCall, now: number): ModelMessage[] {
  const shared = { createdAt: new Date(now), metadata: { [OBSERVED]: true } }
  const fn = { name: call.toolName, arguments: call.args === '' ? '{}' : call.args }
  const made: ModelMessage = {
    role: 'assistant',
    id: `${call.toolCallId}-call`,
    content: null,
    toolCalls: [{ id: call.toolCallId, type: 'function', function: fn }],
    ...shared,
  }
  if (call.result === undefined) return [made]
  return [
    made,
    { role: 'tool', id: `${call.toolCallId}-result`, toolCallId: call.toolCallId, content: call.result, ...shared },
  ]
}
