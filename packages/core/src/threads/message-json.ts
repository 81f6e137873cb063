import type { ModelMessage } from '@tanstack/ai'

/** Gives messages that were read from JSON their `createdAt` dates back: the one field of theirs that JSON lacks. */
export function reviveMessages(parsed: unknown): ModelMessage[] {
  const messages = parsed as (Omit<ModelMessage, 'createdAt'> & { createdAt?: unknown })[]
  for (const message of messages) {
    if (typeof message.createdAt === 'string') message.createdAt = new Date(message.createdAt)
  }
  return messages as ModelMessage[]
}
