import { EventType } from '@tanstack/ai'
import type { StreamChunk } from '@tanstack/ai'

/** Events that begin something, what ends it, and the field that says which. */
const GROUPS = [
  { start: EventType.TEXT_MESSAGE_START, end: EventType.TEXT_MESSAGE_END, id: 'messageId' },
  { start: EventType.TOOL_CALL_START, end: EventType.TOOL_CALL_END, id: 'toolCallId' },
  { start: EventType.REASONING_MESSAGE_START, end: EventType.REASONING_MESSAGE_END, id: 'messageId' },
  { start: EventType.REASONING_START, end: EventType.REASONING_END, id: 'messageId' },
  { start: EventType.STEP_STARTED, end: EventType.STEP_FINISHED, id: 'stepName' },
] as const

/** The events that end what these events left open, newest first. A strict reader accepts nothing else before an end. */
export function endOpenGroups(chunks: Iterable<StreamChunk>, timestamp: number): StreamChunk[] {
  const open = new Map<string, StreamChunk>()
  for (const chunk of chunks) {
    for (const { start, end, id } of GROUPS) {
      const value: unknown = Reflect.get(chunk, id)
      const key = `${end} ${String(value)}`
      if (chunk.type === start) open.set(key, { type: end, [id]: value, timestamp } as StreamChunk)
      if (chunk.type === end) open.delete(key)
    }
  }
  return [...open.values()].toReversed()
}
