import { EventType } from '@tanstack/ai'
import type { StreamChunk } from '@tanstack/ai'
import type { RunOutcome } from './run-outcome.ts'

/** Codes that clients see on the last event of a run that did not complete. */
export const RUN_CANCELLED_CODE = 'RUN_CANCELLED'
/** Code of a run that was ended because its host died. */
export const HOST_LOST_CODE = 'HOST_LOST'

/** Whether a chunk may be the last of a run. An agent loop emits one per turn, so it need not be. */
export function isTerminalChunk(chunk: StreamChunk): boolean {
  return chunk.type === EventType.RUN_FINISHED || chunk.type === EventType.RUN_ERROR
}

/**
 * Whether a run that has this as its latest event had ended here. A turn that ended in tool calls is followed by more,
 * unless one of them waits for a person.
 */
export function isFinalChunk(chunk: StreamChunk): boolean {
  if (!isTerminalChunk(chunk)) return false
  if (isInterruptChunk(chunk)) return true
  return chunk.type === EventType.RUN_ERROR || finishReasonOf(chunk) !== 'tool_calls'
}

/** AG-UI has no field for it: the engine moves what a model says to the chunk's metadata. */
function finishReasonOf(chunk: StreamChunk): unknown {
  const metadata: unknown = Reflect.get(chunk, 'metadata')
  const extras: unknown = typeof metadata === 'object' && metadata !== null ? Reflect.get(metadata, 'tanstack') : null
  const moved: unknown = typeof extras === 'object' && extras !== null ? Reflect.get(extras, 'finishReason') : undefined
  return moved ?? Reflect.get(chunk, 'finishReason')
}

/** Whether a finish chunk says that the run waits for a person. */
export function isInterruptChunk(chunk: StreamChunk): boolean {
  if (chunk.type !== EventType.RUN_FINISHED) return false
  const outcome: unknown = Reflect.get(chunk, 'outcome')
  return typeof outcome === 'object' && outcome !== null && Reflect.get(outcome, 'type') === 'interrupt'
}

/** Whether a run's last event says that a person ended it. */
export function isCancelChunk(chunk: StreamChunk): boolean {
  return chunk.type === EventType.RUN_ERROR && Reflect.get(chunk, 'code') === RUN_CANCELLED_CODE
}

export function runErrorChunk(input: { message: string; code?: string; timestamp: number }): StreamChunk {
  const { message, code, timestamp } = input
  const error = code === undefined ? { message } : { message, code }
  return { type: EventType.RUN_ERROR, timestamp, ...error, error } as StreamChunk
}

/** The last event that a run with this outcome gets, given the last one its model loop produced. */
export function terminalChunkFor(
  outcome: RunOutcome,
  produced: StreamChunk | undefined,
  ids: { runId: string; threadId: string; now: number },
): StreamChunk {
  const timestamp = ids.now
  if (outcome.status === 'aborted') {
    return runErrorChunk({ message: 'The run was cancelled.', code: RUN_CANCELLED_CODE, timestamp })
  }
  if (outcome.status === 'failed') {
    return produced?.type === EventType.RUN_ERROR ? produced : runErrorChunk({ ...outcome.error, timestamp })
  }
  if (produced !== undefined && isTerminalChunk(produced)) return produced
  const { runId, threadId } = ids
  return { type: EventType.RUN_FINISHED, runId, threadId, timestamp } as StreamChunk
}
