import type { ModelMessage } from '@tanstack/ai'

/** Where a stored message says that its model was cut off. */
const PARTIAL = 'holdfastPartial'

/** What a model had said of a message that it did not finish. */
export function partialMessage(id: string, content: string, now: number): ModelMessage {
  return { role: 'assistant', id, content, createdAt: new Date(now), metadata: { [PARTIAL]: true } }
}

export function isPartial(message: ModelMessage): boolean {
  return message.metadata?.[PARTIAL] === true
}
