import { EventType, modelMessagesToUIMessages, uiMessagesToWire } from '@tanstack/ai'
import type { ModelMessage, StreamChunk } from '@tanstack/ai'

/** What every viewer shows from here on, whatever it had seen. */
export function messagesSnapshot(messages: readonly ModelMessage[], timestamp: number): StreamChunk {
  const wire = uiMessagesToWire(modelMessagesToUIMessages([...messages]), { includeSnapshotStructuredOutput: true })
  return { type: EventType.MESSAGES_SNAPSHOT, messages: wire, timestamp } as StreamChunk
}
