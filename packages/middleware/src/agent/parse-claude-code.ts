import type { StreamChunk } from '@tanstack/ai'
import type { AgentChunks } from './agent-chunks.ts'
import type { AgentParser, AgentUsage, ParseAgent } from './agent-parser.ts'
import { countOf, jsonLine, objectOf, objectsOf, stringOf, textOf } from './json-line.ts'
import type { JsonObject } from './json-line.ts'

/** Claude Code's `--output-format stream-json`, with or without `--include-partial-messages`. */
export const parseClaudeCode: ParseAgent = (chunks) => new ClaudeCodeParser(chunks)

class ClaudeCodeParser implements AgentParser {
  readonly #chunks: AgentChunks
  /** Messages that came in parts; the whole message that follows says nothing new. */
  readonly #streamed = new Set<string>()
  /** Kind or tool id of each block of the message that is coming in parts. */
  readonly #blocks = new Map<number, string>()
  #failure: { message: string; code?: string } | undefined
  #usage: AgentUsage | undefined

  constructor(chunks: AgentChunks) {
    this.#chunks = chunks
  }

  line(text: string): StreamChunk[] {
    return jsonLine(this.#chunks, text, (event) => this.#event(event))
  }

  failure(): { message: string; code?: string } | undefined {
    return this.#failure
  }

  usage(): AgentUsage | undefined {
    return this.#usage
  }

  #event(event: JsonObject): StreamChunk[] {
    // What a sub-agent says is told by the result of the call that started it.
    if (stringOf(event['parent_tool_use_id']) !== undefined) return []
    const message = objectOf(event['message'])
    if (event['type'] === 'stream_event') return this.#part(objectOf(event['event']) ?? {})
    if (event['type'] === 'assistant' && message !== undefined) return this.#assistant(message)
    if (event['type'] === 'user' && message !== undefined) return this.#results(message)
    if (event['type'] === 'result') return this.#result(event)
    return []
  }

  #assistant(message: JsonObject): StreamChunk[] {
    if (this.#streamed.has(stringOf(message['id']) ?? '')) return []
    return objectsOf(message['content']).flatMap((block) => this.#block(block))
  }

  #block(block: JsonObject): StreamChunk[] {
    const chunks = this.#chunks
    if (block['type'] === 'text') return [...chunks.text(stringOf(block['text']) ?? ''), ...chunks.endText()]
    if (block['type'] === 'thinking')
      return [...chunks.reasoning(stringOf(block['thinking']) ?? ''), ...chunks.endText()]
    if (block['type'] !== 'tool_use') return []
    return chunks.toolCall(stringOf(block['id']) ?? '', stringOf(block['name']) ?? 'tool', block['input'])
  }

  #results(message: JsonObject): StreamChunk[] {
    return objectsOf(message['content'])
      .filter((block) => block['type'] === 'tool_result')
      .flatMap((block) => this.#chunks.toolResult(stringOf(block['tool_use_id']) ?? '', resultText(block['content'])))
  }

  #part(event: JsonObject): StreamChunk[] {
    const index = countOf(event['index'])
    if (event['type'] === 'message_start') {
      this.#streamed.add(stringOf(objectOf(event['message'])?.['id']) ?? '')
      this.#blocks.clear()
    }
    if (event['type'] === 'content_block_start') return this.#blockStart(index, objectOf(event['content_block']) ?? {})
    if (event['type'] === 'content_block_delta') return this.#blockDelta(index, objectOf(event['delta']) ?? {})
    if (event['type'] === 'content_block_stop') return this.#blockEnd(index)
    return []
  }

  #blockStart(index: number, block: JsonObject): StreamChunk[] {
    if (block['type'] !== 'tool_use') return []
    const id = stringOf(block['id']) ?? ''
    this.#blocks.set(index, id)
    return this.#chunks.toolStart(id, stringOf(block['name']) ?? 'tool')
  }

  #blockDelta(index: number, delta: JsonObject): StreamChunk[] {
    const chunks = this.#chunks
    if (delta['type'] === 'text_delta') return chunks.text(stringOf(delta['text']) ?? '')
    if (delta['type'] === 'thinking_delta') return chunks.reasoning(stringOf(delta['thinking']) ?? '')
    const call = this.#blocks.get(index)
    if (delta['type'] !== 'input_json_delta' || call === undefined) return []
    return chunks.toolArgs(call, stringOf(delta['partial_json']) ?? '')
  }

  #blockEnd(index: number): StreamChunk[] {
    const call = this.#blocks.get(index)
    return call === undefined ? this.#chunks.endText() : this.#chunks.toolEnd(call)
  }

  #result(event: JsonObject): StreamChunk[] {
    const { input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens } =
      objectOf(event['usage']) ?? {}
    const promptTokens = countOf(input_tokens) + countOf(cache_read_input_tokens) + countOf(cache_creation_input_tokens)
    const completionTokens = countOf(output_tokens)
    this.#usage = { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens }
    const answer = stringOf(event['result'])
    const subtype = stringOf(event['subtype']) ?? 'success'
    if (event['is_error'] === true || subtype !== 'success') {
      this.#failure = { message: answer ?? `The agent ended with ${subtype}.`, code: subtype }
      return []
    }
    return this.#chunks.hasText || answer === undefined ? [] : this.#chunks.text(answer)
  }
}

/** A tool result is text or a list of blocks. */
function resultText(content: unknown): string {
  if (!Array.isArray(content)) return content === undefined ? '' : textOf(content)
  return objectsOf(content)
    .map((block) => stringOf(block['text']) ?? `[${textOf(block['type'])}]`)
    .join('\n')
}
