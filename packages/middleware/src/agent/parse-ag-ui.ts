import { EventType } from '@tanstack/ai'
import type { StreamChunk } from '@tanstack/ai'
import { endOpenGroups } from '../runs/open-groups.ts'
import type { ParseAgent } from './agent-parser.ts'
import { jsonLine, stringOf, textOf } from './json-line.ts'
import type { JsonObject } from './json-line.ts'

/** Events that an agent may put into a run. Its start and end, and whole transcripts, are the host's to tell. */
const PASSED: ReadonlySet<string> = new Set([
  EventType.TEXT_MESSAGE_START,
  EventType.TEXT_MESSAGE_CONTENT,
  EventType.TEXT_MESSAGE_END,
  EventType.TOOL_CALL_START,
  EventType.TOOL_CALL_ARGS,
  EventType.TOOL_CALL_END,
  EventType.TOOL_CALL_RESULT,
  EventType.REASONING_START,
  EventType.REASONING_MESSAGE_START,
  EventType.REASONING_MESSAGE_CONTENT,
  EventType.REASONING_MESSAGE_END,
  EventType.REASONING_END,
  EventType.STEP_STARTED,
  EventType.STEP_FINISHED,
  EventType.STATE_SNAPSHOT,
  EventType.STATE_DELTA,
  EventType.CUSTOM,
])

/** What begins or ends something. */
const BOUND = /_(START|STARTED|END|FINISHED)$/

const ID_FIELDS = ['messageId', 'toolCallId', 'parentMessageId'] as const

/** One AG-UI event a line. The agent's ids become the run's, so that two runs of a thread never share one. */
export const parseAgUi: ParseAgent = (chunks) => {
  const bounds: StreamChunk[] = []
  let failure: { message: string; code?: string } | undefined
  const pass = (event: JsonObject): StreamChunk[] => {
    if (event['type'] === EventType.RUN_ERROR) {
      const code = stringOf(event['code'])
      failure = { message: textOf(event['message'] ?? 'The agent failed.'), ...(code === undefined ? {} : { code }) }
    }
    const type = stringOf(event['type']) ?? ''
    if (!PASSED.has(type)) return []
    const ids = ID_FIELDS.flatMap((field) => {
      const id = stringOf(event[field])
      return id === undefined ? [] : [[field, chunks.idOf(id)]]
    })
    const chunk = chunks.chunk({ ...event, type, ...Object.fromEntries(ids) })
    if (BOUND.test(type)) bounds.push(chunk)
    return [chunk]
  }
  return {
    line: (text) => jsonLine(chunks, text, pass),
    end: () => endOpenGroups(bounds, chunks.now()),
    failure: () => failure,
  }
}
