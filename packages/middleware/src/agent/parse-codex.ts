import type { StreamChunk } from '@tanstack/ai'
import type { AgentChunks } from './agent-chunks.ts'
import type { AgentParser, AgentUsage, ParseAgent } from './agent-parser.ts'
import { countOf, jsonLine, objectOf, stringOf, textOf } from './json-line.ts'
import type { JsonObject } from './json-line.ts'

/** Codex's `exec --json`. */
export const parseCodex: ParseAgent = (chunks) => new CodexParser(chunks)

interface CodexCall {
  name: string
  args: unknown
  result: string
}

class CodexParser implements AgentParser {
  readonly #chunks: AgentChunks
  readonly #started = new Set<string>()
  #failure: { message: string } | undefined
  #usage: AgentUsage | undefined

  constructor(chunks: AgentChunks) {
    this.#chunks = chunks
  }

  line(text: string): StreamChunk[] {
    return jsonLine(this.#chunks, text, (event) => this.#event(event))
  }

  failure(): { message: string } | undefined {
    return this.#failure
  }

  usage(): AgentUsage | undefined {
    return this.#usage
  }

  #event(event: JsonObject): StreamChunk[] {
    const item = objectOf(event['item'])
    if (item !== undefined && event['type'] === 'item.started') return this.#start(item)
    if (item !== undefined && event['type'] === 'item.completed') return this.#complete(item)
    if (event['type'] === 'turn.completed') this.#addUsage(objectOf(event['usage']) ?? {})
    if (event['type'] === 'turn.failed') {
      this.#failure = { message: textOf(objectOf(event['error'])?.['message'] ?? 'The turn failed.') }
    }
    // Also told while a lost connection is made again, so it ends nothing by itself.
    if (event['type'] === 'error') return this.#chunks.custom('agent.error', { message: textOf(event['message']) })
    return []
  }

  #start(item: JsonObject): StreamChunk[] {
    const call = callOf(item)
    return call === undefined ? [] : this.#call(item, call)
  }

  #complete(item: JsonObject): StreamChunk[] {
    const chunks = this.#chunks
    const text = stringOf(item['text']) ?? ''
    const kind = kindOf(item)
    if (kind === 'agent_message' || kind === 'assistant_message') return [...chunks.text(text), ...chunks.endText()]
    if (kind === 'reasoning') return [...chunks.reasoning(text), ...chunks.endText()]
    if (kind === 'error') return chunks.custom('agent.error', { message: textOf(item['message']) })
    if (kind === 'todo_list') return chunks.custom('agent.todo-list', { items: item['items'] ?? [] })
    const call = callOf(item)
    if (call === undefined) return []
    return [...this.#call(item, call), ...chunks.toolResult(idOf(item), call.result)]
  }

  #call(item: JsonObject, call: CodexCall): StreamChunk[] {
    const id = idOf(item)
    if (this.#started.has(id)) return []
    this.#started.add(id)
    return this.#chunks.toolCall(id, call.name, call.args)
  }

  #addUsage(usage: JsonObject): void {
    const promptTokens = (this.#usage?.promptTokens ?? 0) + countOf(usage['input_tokens'])
    const completionTokens = (this.#usage?.completionTokens ?? 0) + countOf(usage['output_tokens'])
    this.#usage = { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens }
  }
}

/** Older versions have the kind of an item in another field. */
function kindOf(item: JsonObject): string {
  return stringOf(item['type']) ?? stringOf(item['item_type']) ?? ''
}

function idOf(item: JsonObject): string {
  return stringOf(item['id']) ?? ''
}

/** What a person sees as the call of a tool. */
function callOf(item: JsonObject): CodexCall | undefined {
  const kind = kindOf(item)
  const status = stringOf(item['status']) ?? 'completed'
  if (kind === 'command_execution') {
    const output = stringOf(item['aggregated_output']) ?? ''
    const exitCode = item['exit_code']
    const failed = typeof exitCode === 'number' && exitCode !== 0
    return {
      name: 'shell',
      args: { command: item['command'] ?? '' },
      result: failed ? `${output}\n[exit ${exitCode}]` : output,
    }
  }
  if (kind === 'file_change') return { name: 'file_change', args: { changes: item['changes'] ?? [] }, result: status }
  if (kind === 'web_search') return { name: 'web_search', args: { query: item['query'] ?? '' }, result: status }
  if (kind !== 'mcp_tool_call') return undefined
  const name = `${stringOf(item['server']) ?? 'mcp'}.${stringOf(item['tool']) ?? 'tool'}`
  return { name, args: item['arguments'] ?? {}, result: textOf(item['result'] ?? item['error'] ?? status) }
}
