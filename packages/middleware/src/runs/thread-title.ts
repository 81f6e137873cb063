import type { ModelMessage, UIMessage } from '@tanstack/ai'

const MAX_TITLE_LENGTH = 80

/** A thread is called by its first line of the person's words until somebody gives it a name. */
export function titleOf(messages: readonly (UIMessage | ModelMessage)[]): string {
  const text =
    messages
      .filter((message) => message.role === 'user')
      .map(textOf)
      .find((line) => line !== '') ?? ''
  const title = text.replaceAll(/\s+/g, ' ').trim()
  const characters = Array.from(new Intl.Segmenter().segment(title), ({ segment }) => segment)
  if (characters.length <= MAX_TITLE_LENGTH) return title || 'New thread'
  return `${characters.slice(0, MAX_TITLE_LENGTH - 1).join('')}…`
}

function textOf(message: UIMessage | ModelMessage): string {
  const parts: unknown = 'parts' in message ? message.parts : message.content
  if (typeof parts === 'string') return parts
  if (!Array.isArray(parts)) return ''
  return parts.map(partText).join(' ').trim()
}

function partText(part: unknown): string {
  if (typeof part !== 'object' || part === null) return ''
  const text: unknown = Reflect.get(part, 'content') ?? Reflect.get(part, 'text')
  return typeof text === 'string' ? text : ''
}
