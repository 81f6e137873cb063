import { setTimeout as wait } from 'node:timers/promises'
import { EventType } from '@tanstack/ai'
import type { AdapterYieldChunk, AnyTextAdapter, TextOptions } from '@tanstack/ai'
import { INTRODUCTION, reportOf } from './demo-text.ts'
import { demoTurn } from './demo-turn.ts'

const DELTA_CHARS = 24
const DELTA_EVERY_MS = 10
const MODEL = 'demo'

/** A text adapter without a network: runs the lines that start with `$ ` with the `bash` tool, then reports. */
export function demoModel(): AnyTextAdapter {
  return {
    kind: 'text',
    name: MODEL,
    model: MODEL,
    '~types': undefined as never,
    chatStream,
    structuredOutput: () => Promise.reject(new Error('The demo model has no structured output.')),
  }
}

async function* chatStream(options: TextOptions): AsyncGenerator<AdapterYieldChunk> {
  const { runId = 'demo-run', threadId = 'demo-thread', messages, abortController } = options
  const { turn, index } = demoTurn(messages)
  const ids = { runId, threadId, messageId: `${runId}-${index}` }
  yield { type: EventType.RUN_STARTED, runId, threadId, model: MODEL, timestamp: Date.now() }
  if (turn.kind === 'run') yield* callTool(ids, turn.command)
  else yield* say(ids, turn.kind === 'introduce' ? INTRODUCTION : reportOf(turn.commands), abortController?.signal)
}

interface Ids {
  runId: string
  threadId: string
  messageId: string
}

/** `publish <path>` hands a file to the reader; every other command is the shell's. */
function* callTool({ runId, threadId, messageId }: Ids, command: string): Generator<AdapterYieldChunk> {
  const path = /^publish (\S+)$/.exec(command)?.[1]
  const [name, input] = path === undefined ? ['bash', { command }] : ['publish_artifact', { path }]
  const call = { toolCallId: messageId, toolCallName: name, toolName: name, model: MODEL, timestamp: Date.now() }
  yield { type: EventType.TOOL_CALL_START, ...call, parentMessageId: messageId, index: 0 }
  yield { type: EventType.TOOL_CALL_ARGS, ...call, delta: JSON.stringify(input) }
  yield { type: EventType.TOOL_CALL_END, ...call, input }
  yield finished(runId, threadId, 'tool_calls')
}

async function* say(ids: Ids, text: string, signal: AbortSignal | undefined): AsyncGenerator<AdapterYieldChunk> {
  const { runId, threadId, messageId } = ids
  const message = (): { messageId: string; model: string; timestamp: number } => {
    return { messageId, model: MODEL, timestamp: Date.now() }
  }
  yield { type: EventType.TEXT_MESSAGE_START, ...message(), role: 'assistant' }
  const characters = Array.from(text)
  for (let at = 0; at < characters.length; at += DELTA_CHARS) {
    yield { type: EventType.TEXT_MESSAGE_CONTENT, ...message(), delta: characters.slice(at, at + DELTA_CHARS).join('') }
    await wait(DELTA_EVERY_MS, undefined, signal === undefined ? {} : { signal })
  }
  yield { type: EventType.TEXT_MESSAGE_END, ...message() }
  yield finished(runId, threadId, 'stop')
}

function finished(runId: string, threadId: string, finishReason: 'stop' | 'tool_calls'): AdapterYieldChunk {
  return { type: EventType.RUN_FINISHED, runId, threadId, model: MODEL, timestamp: Date.now(), finishReason }
}
