import type { ModelMessage } from '@tanstack/ai'

/** What a person last asked for: the text of the user messages after the last answer. */
export function lastRequest(messages: readonly ModelMessage[]): string {
  const lastOther = messages.findLastIndex((message) => message.role !== 'user')
  return messages
    .slice(lastOther + 1)
    .map((message) => textOfContent(message.content))
    .join('\n\n')
}

function textOfContent(content: ModelMessage['content']): string {
  if (typeof content === 'string') return content
  return (content ?? []).map((part) => (part.type === 'text' ? part.content : '')).join('')
}
