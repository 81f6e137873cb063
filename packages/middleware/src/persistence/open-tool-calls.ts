import type { ModelMessage } from '@tanstack/ai'

/** What a model is told of a tool call whose end nobody saw. */
const INTERRUPTED = { error: 'The tool call was interrupted; it may or may not have taken effect.' }
/** What a model is told of a call that waited for a person, who did not decide. */
const NOT_APPROVED = { approved: false, error: 'The tool call was not approved by a person, and was not made.' }

/**
 * Gives every tool call of the transcript a result, right after the message that made it. A model refuses a conversation
 * with an open call, so an interrupted run would otherwise make the thread unusable.
 */
export function closeOpenToolCalls(
  messages: readonly ModelMessage[],
  now: number,
  result: object = INTERRUPTED,
): ModelMessage[] {
  const answered = new Set(messages.flatMap((message) => message.toolCallId ?? []))
  return messages.flatMap((message) => {
    const open = message.toolCalls?.filter((call) => !answered.has(call.id)) ?? []
    return [message, ...open.map((call) => interruptedResult(message, call.id, now, result))]
  })
}

/** The same for calls that wait for a person who will not answer any more. */
export function closeWaitingToolCalls(messages: readonly ModelMessage[], now: number): ModelMessage[] {
  return closeOpenToolCalls(messages, now, NOT_APPROVED)
}

export function interruptedResult(
  call: ModelMessage,
  toolCallId: string,
  now: number,
  result: object = INTERRUPTED,
): ModelMessage {
  return {
    role: 'tool',
    id: `${toolCallId}-interrupted`,
    toolCallId,
    content: JSON.stringify(result),
    error: 'interrupted',
    createdAt: new Date(now),
    ...(call.metadata === undefined ? {} : { metadata: call.metadata }),
  }
}
