import { InvalidInputError } from '@holdfast/core'
import { convertMessagesToModelMessages, generateMessageId } from '@tanstack/ai'
import type { ModelMessage, UIMessage } from '@tanstack/ai'

export interface MergeTurnInput {
  stored: readonly ModelMessage[]
  incoming: readonly (UIMessage | ModelMessage)[]
  /** True when the request answers interrupts, so that it needs no new message. */
  isResume: boolean
  now: number
}

/**
 * The conversation that a run answers. The stored transcript is the truth; of what the client sends, only what follows
 * its last stored message is taken, and of that only a person's words and answers to open tool calls: a client cannot
 * write in the assistant's name. A client that sends a stored user message last wants it answered again, so what followed
 * it is dropped. `INVALID_ARGUMENT` when there is nothing to answer.
 */
export function mergeTurn({ stored, incoming, isResume, now }: MergeTurnInput): ModelMessage[] {
  const sent = convertMessagesToModelMessages([...incoming])
  const positions = new Map(stored.map((message, index) => [message.id, index]))
  const lastKnown = sent.findLastIndex((message) => message.id !== undefined && positions.has(message.id))
  const openCalls = openToolCallIds(stored)
  const fresh = sent.slice(lastKnown + 1).filter((message) => isFromPerson(message, openCalls))
  if (fresh.length > 0) return [...stored, ...fresh.map((message) => withIdentity(message, now))]
  if (isResume) return [...stored]
  const again = sent[lastKnown]
  if (again?.role !== 'user' || lastKnown !== sent.length - 1) {
    throw new InvalidInputError('INVALID_ARGUMENT', 'The request holds no new message to answer.')
  }
  return stored.slice(0, (positions.get(again.id) ?? 0) + 1)
}

function openToolCallIds(stored: readonly ModelMessage[]): Set<string> {
  const open = new Set(stored.flatMap((message) => message.toolCalls?.map((call) => call.id) ?? []))
  for (const message of stored) if (message.toolCallId !== undefined) open.delete(message.toolCallId)
  return open
}

function isFromPerson(message: ModelMessage, openCalls: ReadonlySet<string>): boolean {
  if (message.role === 'user') return true
  return message.role === 'tool' && message.toolCallId !== undefined && openCalls.has(message.toolCallId)
}

/** Ids and times are given once, here, and kept from then on. */
function withIdentity(message: ModelMessage, now: number): ModelMessage {
  return { ...message, id: message.id ?? generateMessageId(), createdAt: message.createdAt ?? new Date(now) }
}
