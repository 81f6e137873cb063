import { convertMessagesToModelMessages, EventType, modelMessagesToUIMessages, StreamProcessor } from '@tanstack/ai'
import type { ModelMessage, StreamChunk, UIMessage } from '@tanstack/ai'
import { closeOpenToolCalls } from './open-tool-calls.ts'
import { markRun, writtenBy } from './run-mark.ts'

export interface SettledTranscriptInput {
  stored: readonly ModelMessage[]
  /** The run's log. */
  chunks: readonly StreamChunk[]
  runId: string
  now: number
}

/**
 * The transcript that a dead host's run leaves: the stored steps, and after them what the log has of the step that was
 * under way. Every tool call has a result.
 */
export function settledTranscript({ stored, chunks, runId, now }: SettledTranscriptInput): ModelMessage[] {
  const rest = convertMessagesToModelMessages(shownBy(unstored(chunks, stored))).filter(saysSomething)
  return closeOpenToolCalls(markRun([...stored, ...rest], stored.length, runId), now)
}

/** Whether a viewer of these events shows the words that the run wrote into the transcript. */
export function showsTranscript({ stored, chunks, runId }: Omit<SettledTranscriptInput, 'now'>): boolean {
  const own = stored.filter((message) => writtenBy(message) === runId)
  const foreign = new Set(stored.flatMap((message) => (writtenBy(message) === runId ? [] : (message.id ?? []))))
  const shown = shownBy(chunks).filter((message) => !foreign.has(message.id))
  return wordsOf(shown) === wordsOf(modelMessagesToUIMessages([...own]))
}

/**
 * The events after the last snapshot whose message or call the transcript lacks. A call whose arguments never became
 * complete has not begun, and no model could read it.
 */
function unstored(chunks: readonly StreamChunk[], stored: readonly ModelMessage[]): StreamChunk[] {
  const known = new Set(
    stored.flatMap(({ id, toolCalls = [], toolCallId }) => [id, toolCallId, ...toolCalls.map((call) => call.id)]),
  )
  const complete = new Set(chunks.filter(({ type }) => type === EventType.TOOL_CALL_END).map(groupOf))
  return chunks.slice(chunks.findLastIndex(({ type }) => type === EventType.MESSAGES_SNAPSHOT) + 1).filter((chunk) => {
    const group = groupOf(chunk)
    if (typeof group !== 'string' || known.has(group)) return false
    return Reflect.get(chunk, 'toolCallId') === undefined || complete.has(group)
  })
}

/** The call or message that an event is a part of. */
function groupOf(chunk: StreamChunk): unknown {
  return Reflect.get(chunk, 'toolCallId') ?? Reflect.get(chunk, 'messageId')
}

function shownBy(chunks: readonly StreamChunk[]): UIMessage[] {
  const processor = new StreamProcessor()
  for (const chunk of chunks) processor.processChunk(chunk)
  return processor.getMessages()
}

function saysSomething({ role, content, toolCalls = [] }: ModelMessage): boolean {
  return role !== 'assistant' || toolCalls.length > 0 || (content !== null && content.length > 0)
}

function wordsOf(messages: readonly UIMessage[]): string {
  const spoken = messages.filter((message) => message.role === 'assistant').flatMap((message) => message.parts)
  return spoken.map((part) => (part.type === 'text' ? part.content : '')).join('')
}
