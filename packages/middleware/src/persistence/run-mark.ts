import type { ModelMessage } from '@tanstack/ai'

/** Where a stored message says which run wrote it. Providers ignore metadata. */
const MARK = 'holdfast'

/** Marks the messages from `fromIndex` on as written by the run, unless another run wrote them. */
export function markRun(messages: readonly ModelMessage[], fromIndex: number, runId: string): ModelMessage[] {
  return messages.map((message, index) => {
    const isOwn = index >= fromIndex && message.role !== 'user' && writtenBy(message) === undefined
    return isOwn ? { ...message, metadata: { ...message.metadata, [MARK]: { runId } } } : message
  })
}

export function writtenBy(message: ModelMessage): string | undefined {
  const mark: unknown = message.metadata?.[MARK]
  if (typeof mark !== 'object' || mark === null) return undefined
  const runId: unknown = Reflect.get(mark, 'runId')
  return typeof runId === 'string' ? runId : undefined
}

/** The transcript without what the run wrote: its events give that again. */
export function withoutRun(messages: readonly ModelMessage[], runId: string): ModelMessage[] {
  return messages.filter((message) => writtenBy(message) !== runId)
}
