import type { ModelMessage } from '@tanstack/ai'

/** What a strict model refuses about a conversation; empty when it would answer it. */
export function refusalsOf(messages: readonly ModelMessage[]): string[] {
  const refusals: string[] = []
  const ids = new Set<string>()
  let open = new Set<string>()
  for (const [index, message] of messages.entries()) {
    const at = `message ${index} (${message.role})`
    if (message.id !== undefined && ids.has(message.id)) refusals.push(`${at}: id ${message.id} occurs twice`)
    if (message.id !== undefined) ids.add(message.id)
    if (message.role === 'tool') {
      if (message.toolCallId === undefined || !open.delete(message.toolCallId)) {
        refusals.push(`${at}: a result for ${String(message.toolCallId)}, which is no open call`)
      }
      continue
    }
    if (open.size > 0) refusals.push(`${at}: calls ${[...open].join(', ')} have no result`)
    open = new Set(message.toolCalls?.map((call) => call.id))
    if (message.role !== 'assistant') continue
    const isEmpty = (message.content ?? '') === '' && open.size === 0
    if (isEmpty) refusals.push(`${at}: says and does nothing`)
  }
  if (open.size > 0) refusals.push(`calls ${[...open].join(', ')} have no result at the end`)
  return refusals
}
