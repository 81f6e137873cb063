import { EventType } from '@tanstack/ai'
import type { ModelMessage, StreamChunk, TextMessageContentEvent } from '@tanstack/ai'

interface ObservedCall {
  toolCallId: string
  toolName: string
  args: string
  result: string | undefined
  /** What had been said when it began: so many characters of this message. */
  said: { messageId: string; length: number } | undefined
}

const OBSERVED = 'holdfastObserved'
/** Names the message whose beginning stands with a call that was made in the middle of it. */
const WORDS_OF = 'holdfastWordsOf'

/**
 * Tool calls that an agent made inside its own process: the engine neither ran them nor keeps them, yet a person wants to
 * see them after a reload. They are stored marked, and never shown to a model.
 */
export class ToolHistory {
  readonly #calls = new Map<string, ObservedCall>()
  #said: ObservedCall['said']

  observe(chunk: StreamChunk): void {
    if (chunk.type === EventType.TEXT_MESSAGE_CONTENT) this.#hear(chunk)
    const toolCallId: unknown = Reflect.get(chunk, 'toolCallId')
    if (typeof toolCallId !== 'string') return
    if (chunk.type === EventType.TOOL_CALL_START) this.#start(toolCallId, chunk)
    const call = this.#calls.get(toolCallId)
    if (call === undefined) return
    if (chunk.type === EventType.TOOL_CALL_ARGS) call.args += String(Reflect.get(chunk, 'delta') ?? '')
    if (chunk.type === EventType.TOOL_CALL_RESULT) call.result = String(Reflect.get(chunk, 'content') ?? '')
  }

  /**
   * The transcript with the observed calls that it lacks, in the order they ran: each behind the words of the last
   * assistant message that were said before it. While the run goes on, a call without a result may be one that the engine
   * is about to make: it is left out.
   */
  addTo(messages: readonly ModelMessage[], now: number, options: { hasEnded: boolean }): ModelMessage[] {
    const known = new Set(messages.flatMap((message) => message.toolCalls?.map((call) => call.id) ?? []))
    const made = [...this.#calls.values()].filter((call) => options.hasEnded || call.result !== undefined)
    const missing = made.filter((call) => !known.has(call.toolCallId))
    if (missing.length === 0) return [...messages]
    const last = messages.at(-1)
    if (last?.role !== 'assistant') return [...messages, ...missing.flatMap((call) => messagesOf(call, now))]
    return [...messages.slice(0, -1), ...weave(last, missing, now)]
  }

  #hear(chunk: TextMessageContentEvent): void {
    const { messageId, delta } = chunk
    const whole: unknown = Reflect.get(chunk, 'content')
    const before = this.#said?.messageId === messageId ? this.#said.length : 0
    this.#said = { messageId, length: typeof whole === 'string' ? whole.length : before + delta.length }
  }

  #start(toolCallId: string, chunk: StreamChunk): void {
    if (this.#calls.has(toolCallId)) return
    const toolName = String(Reflect.get(chunk, 'toolCallName') ?? Reflect.get(chunk, 'toolName') ?? 'tool')
    this.#calls.set(toolCallId, { toolCallId, toolName, args: '', result: undefined, said: this.#said })
  }
}

/** The answer, from its last words on, among the calls; what was said before stands with the calls that followed it. */
function weave(answer: ModelMessage, calls: readonly ObservedCall[], now: number): ModelMessage[] {
  const text = textOf(answer)
  const placed = calls.map((call) => {
    const { said } = call
    return { call, at: said !== undefined && said.messageId === answer.id ? said.length : 0 }
  })
  const lastWords = Math.max(0, ...placed.map(({ at }) => at).filter((at) => text.slice(at).trim() !== ''))
  let told = 0
  const before = placed.filter(({ at }) => at <= lastWords)
  const woven = before.flatMap(({ call, at }) => {
    const words = text.slice(told, at)
    told = Math.max(told, at)
    return messagesOf(call, now, words === '' ? undefined : { words, answerId: answer.id })
  })
  const after = placed.filter(({ at }) => at > lastWords).flatMap(({ call }) => messagesOf(call, now))
  return [...woven, lastWords === 0 ? answer : { ...answer, content: text.slice(lastWords) }, ...after]
}

/** What a model may see: the transcript without calls that it did not make, and with its words in one piece. */
export function withoutObserved(messages: readonly ModelMessage[]): ModelMessage[] {
  const words = new Map<unknown, string>()
  return messages.flatMap((message) => {
    const { id, role, metadata = {} } = message
    const isObserved = metadata[OBSERVED] === true
    const before = words.get(isObserved ? metadata[WORDS_OF] : id) ?? ''
    if (!isObserved) return [before === '' ? message : { ...message, content: before + textOf(message) }]
    if (role === 'assistant') words.set(metadata[WORDS_OF], before + textOf(message))
    return []
  })
}

function textOf({ content }: ModelMessage): string {
  return typeof content === 'string' ? content : ''
}

function messagesOf(call: ObservedCall, now: number, said?: { words: string; answerId: unknown }): ModelMessage[] {
  const createdAt = new Date(now)
  const metadata = { [OBSERVED]: true }
  const fn = { name: call.toolName, arguments: call.args === '' ? '{}' : call.args }
  const made: ModelMessage = {
    role: 'assistant',
    id: `${call.toolCallId}-call`,
    content: said?.words ?? null,
    toolCalls: [{ id: call.toolCallId, type: 'function', function: fn }],
    createdAt,
    metadata: said === undefined ? metadata : { ...metadata, [WORDS_OF]: said.answerId },
  }
  const { toolCallId, result } = call
  if (result === undefined) return [made]
  return [made, { role: 'tool', id: `${toolCallId}-result`, toolCallId, content: result, createdAt, metadata }]
}
