import type { AnyTool, ModelMessage } from '@tanstack/ai'
import { interruptedResult } from './open-tool-calls.ts'
import { isPartial } from './partial-message.ts'
import { writtenBy } from './run-mark.ts'
import { withoutObserved } from './tool-history.ts'
import { startedCalls } from './tool-progress.ts'

export interface ResumePoint {
  /** What a successor continues from. */
  messages: ModelMessage[]
  /** The model had given its last answer: nothing is left to do but to end the run. */
  isFinished: boolean
}

/** A tool whose call may be made again when nobody knows whether the first one took effect. */
export const IDEMPOTENT = 'idempotent'

/**
 * The durable point of a run whose host died: the last stored step, without words that were cut off. A call that had begun and has no result gets an
 * interrupted one, unless its tool says that repeating is harmless; a call that had not begun stays open and is made.
 */
export function resumePoint(
  stored: readonly ModelMessage[],
  runId: string,
  tools: readonly AnyTool[],
  now: number,
): ResumePoint {
  const repeatable = new Set(tools.filter((tool) => tool.metadata?.[IDEMPOTENT] === true).map((tool) => tool.name))
  const answered = new Set(stored.flatMap((message) => message.toolCallId ?? []))
  const steps = stored.filter((message) => writtenBy(message) !== runId || !isPartial(message))
  const messages = steps.flatMap((message) => {
    const started = startedCalls(message)
    const lost = (message.toolCalls ?? []).filter(
      (call) => started.has(call.id) && !answered.has(call.id) && !repeatable.has(call.function.name),
    )
    return [message, ...lost.map((call) => interruptedResult(message, call.id, now))]
  })
  const last = withoutObserved(messages).at(-1)
  const isFinished = last?.role === 'assistant' && (last.toolCalls ?? []).length === 0 && writtenBy(last) === runId
  return { messages, isFinished }
}
