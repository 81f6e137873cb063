import type { HoldfastStores, WriteFence } from '@holdfast/core'
import { convertMessagesToModelMessages, StreamProcessor } from '@tanstack/ai'
import type { ModelMessage, StreamChunk } from '@tanstack/ai'
import { closeOpenToolCalls } from './open-tool-calls.ts'
import { markRun, withoutRun, writtenBy } from './run-mark.ts'

export interface SettledTranscriptInput {
  stores: HoldfastStores
  threadId: string
  fence: WriteFence
  chunks: readonly StreamChunk[]
  now: number
}

/** Stores what the log of a dead host's run says, where the host itself had not stored it yet. Repeatable. */
export async function saveSettledTranscript(input: SettledTranscriptInput): Promise<void> {
  const { stores, threadId, fence, chunks, now } = input
  const stored = await stores.messages.loadThread(threadId)
  const produced = messagesOf(chunks)
  const own = stored.filter((message) => writtenBy(message) === fence.runId)
  const base = own.length >= produced.length ? stored : withoutRun(stored, fence.runId)
  const added = own.length >= produced.length ? [] : produced
  const messages = closeOpenToolCalls(markRun([...base, ...added], base.length, fence.runId), now)
  if (messages.length === stored.length) return
  await stores.messages.saveThread(threadId, messages, fence)
}

/** The messages that a viewer of these events has on the screen. */
function messagesOf(chunks: readonly StreamChunk[]): ModelMessage[] {
  const processor = new StreamProcessor()
  for (const chunk of chunks) processor.processChunk(chunk)
  return convertMessagesToModelMessages(processor.getMessages())
}
