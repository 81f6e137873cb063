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

/** Where a person's message says which run answers it. */
const TURN = 'holdfastTurn'

/** Notes that the run answers the last message: from here on it can be continued without the request that began it. */
export function markTurn(messages: readonly ModelMessage[], runId: string): ModelMessage[] {
  const last = messages.at(-1)
  if (last === undefined) return []
  return [...messages.slice(0, -1), { ...last, metadata: { ...last.metadata, [TURN]: runId } }]
}

export function hasTurn(messages: readonly ModelMessage[], runId: string): boolean {
  return messages.some((message) => message.metadata?.[TURN] === runId)
}

/** The transcript without what the run wrote: its events give that again. */
export function withoutRun(messages: readonly ModelMessage[], runId: string): ModelMessage[] {
  return messages.filter((message) => writtenBy(message) !== runId)
}
