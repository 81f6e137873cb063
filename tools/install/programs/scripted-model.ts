import { EventType } from '@tanstack/ai'
import type { AdapterYieldChunk, AnyTextAdapter, TextOptions } from '@tanstack/ai'

/** A model that runs one command with the `bash` tool and then says that it is done. */
export function scriptedModel(command: string): AnyTextAdapter {
  return {
    kind: 'text',
    name: 'scripted',
    model: 'scripted',
    '~types': undefined as never,
    chatStream: (options: TextOptions) => answer(options, command),
    structuredOutput: () => Promise.reject(new Error('The scripted model has no structured output.')),
  }
}

async function* answer(options: TextOptions, command: string): AsyncGenerator<AdapterYieldChunk> {
  const { runId = 'run', threadId = 'thread', messages } = options
  const stamp = { model: 'scripted', timestamp: Date.now() }
  yield { type: EventType.RUN_STARTED, runId, threadId, ...stamp }
  const hasRun = messages.at(-1)?.role === 'tool'
  const messageId = `${runId}-${messages.length}`
  if (hasRun) {
    yield { type: EventType.TEXT_MESSAGE_START, messageId, role: 'assistant', ...stamp }
    yield { type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta: 'Done.', ...stamp }
    yield { type: EventType.TEXT_MESSAGE_END, messageId, ...stamp }
  } else {
    const call = { toolCallId: messageId, toolCallName: 'bash', toolName: 'bash', ...stamp }
    yield { type: EventType.TOOL_CALL_START, ...call, parentMessageId: messageId, index: 0 }
    yield { type: EventType.TOOL_CALL_ARGS, ...call, delta: JSON.stringify({ command }) }
    yield { type: EventType.TOOL_CALL_END, ...call, input: { command } }
  }
  const finishReason = hasRun ? 'stop' : 'tool_calls'
  yield { type: EventType.RUN_FINISHED, runId, threadId, finishReason, ...stamp }
}
