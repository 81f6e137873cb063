import type { ModelMessage } from '@tanstack/ai'

/** What a model is told of a tool call whose end nobody saw. */
const INTERRUPTED = JSON.stringify({ error: 'The tool call was interrupted; it may or may not have taken effect.' })

/**
 * Gives every tool call of the transcript a result, right after the message that made it. A model refuses a conversation
 * with an open call, so an interrupted run would otherwise make the thread unusable.
 */
export function closeOpenToolCalls(messages: readonly ModelMessage[], now: number): ModelMessage[] {
  const answered = new Set(messages.flatMap((message) => message.toolCallId ?? []))
  return messages.flatMap((message) => {
    const open = message.toolCalls?.filter((call) => !answered.has(call.id)) ?? []
    return [message, ...open.map((call) => interruptedResult(message, call.id, now))]
  })
}

export function interruptedResult(call: ModelMessage, toolCallId: string, now: number): ModelMessage {
  return {
    role: 'tool',
    id: `${toolCallId}-interrupted`,
    toolCallId,
    content: INTERRUPTED,
    error: 'interrupted',
    createdAt: new Date(now),
    ...(call.metadata === undefined ? {} : { metadata: call.metadata }),
  }
}
