import type { StreamChunk } from '@tanstack/ai'

/**
 * Whether an event ends a run, or lets it wait for a person. A model that calls tools ends each of its turns with a finish
 * event too.
 */
export function isFinal(chunk: StreamChunk | undefined): boolean {
  if (chunk?.type === 'RUN_ERROR') return true
  if (chunk?.type !== 'RUN_FINISHED') return false
  return Reflect.get(chunk, 'outcome') !== undefined || finishReasonOf(chunk) !== 'tool_calls'
}

/** Whether an event says that its run waits for a person. */
export function isPause(chunk: StreamChunk | undefined): boolean {
  const outcome: unknown = chunk?.type === 'RUN_FINISHED' ? Reflect.get(chunk, 'outcome') : undefined
  return typeof outcome === 'object' && outcome !== null && Reflect.get(outcome, 'type') === 'interrupt'
}

/** Where the engine puts it; AG-UI has no field of its own for it. */
export function finishReasonOf(chunk: StreamChunk): unknown {
  const metadata: unknown = Reflect.get(chunk, 'metadata')
  const extras: unknown = typeof metadata === 'object' && metadata !== null ? Reflect.get(metadata, 'tanstack') : null
  return typeof extras === 'object' && extras !== null ? Reflect.get(extras, 'finishReason') : undefined
}
