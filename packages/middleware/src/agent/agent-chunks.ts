import { EventType } from '@tanstack/ai'
import type { StreamChunk } from '@tanstack/ai'

/** Between two texts of one answer, so that they do not run together where they are stored as one. */
const TEXT_SEPARATOR = '\n\n'

type OpenKind = 'text' | 'reasoning'

/**
 * Makes the events of one agent run. Ids are `<runId>-n` in the order in which they are needed, so the same lines give
 * the same events on any host. All text of a run is one message; calls of tools belong to it.
 */
export class AgentChunks {
  readonly runId: string
  /** The time that events carry. */
  readonly now: () => number
  readonly #ids = new Map<string, string>()
  readonly #openCalls = new Set<string>()
  #open: { kind: OpenKind; messageId: string } | undefined
  #hasText = false
  #needsSeparator = false
  #count = 0

  constructor(input: { runId: string; now: () => number }) {
    this.runId = input.runId
    this.now = input.now
  }

  /** Whether the agent has said anything. */
  get hasText(): boolean {
    return this.#hasText
  }

  /** The run's own id for one that the agent uses; the same for the same. */
  idOf(agentId: string): string {
    let id = this.#ids.get(agentId)
    if (id === undefined) this.#ids.set(agentId, (id = this.#nextId()))
    return id
  }

  chunk(fields: { type: string } & Record<string, unknown>): StreamChunk {
    return { ...fields, timestamp: this.now() } as unknown as StreamChunk
  }

  /** More of the answer. A text that was ended is followed by a new paragraph of the same message. */
  text(delta: string): StreamChunk[] {
    if (delta === '') return []
    const begin = this.#begin('text')
    const separated = this.#needsSeparator ? TEXT_SEPARATOR + delta : delta
    this.#needsSeparator = false
    this.#hasText = true
    return [...begin, this.#content(EventType.TEXT_MESSAGE_CONTENT, separated)]
  }

  /** More of what the agent thinks. */
  reasoning(delta: string): StreamChunk[] {
    if (delta === '') return []
    return [...this.#begin('reasoning'), this.#content(EventType.REASONING_MESSAGE_CONTENT, delta)]
  }

  /** Ends the text or thought that is open. Repeatable. */
  endText(): StreamChunk[] {
    const open = this.#open
    if (open === undefined) return []
    this.#open = undefined
    const { messageId } = open
    if (open.kind === 'text') {
      this.#needsSeparator = true
      return [this.chunk({ type: EventType.TEXT_MESSAGE_END, messageId })]
    }
    return [
      this.chunk({ type: EventType.REASONING_MESSAGE_END, messageId }),
      this.chunk({ type: EventType.REASONING_END, messageId }),
    ]
  }

  toolStart(agentId: string, toolName: string): StreamChunk[] {
    const toolCallId = this.idOf(agentId)
    this.#openCalls.add(toolCallId)
    const parentMessageId = this.idOf(ANSWER)
    const start = { type: EventType.TOOL_CALL_START, toolCallId, toolCallName: toolName, toolName, parentMessageId }
    return [...this.endText(), this.chunk(start)]
  }

  toolArgs(agentId: string, delta: string): StreamChunk[] {
    if (delta === '') return []
    return [this.chunk({ type: EventType.TOOL_CALL_ARGS, toolCallId: this.idOf(agentId), delta })]
  }

  /** The arguments are complete. Repeatable. */
  toolEnd(agentId: string): StreamChunk[] {
    const toolCallId = this.idOf(agentId)
    if (!this.#openCalls.delete(toolCallId)) return []
    return [this.chunk({ type: EventType.TOOL_CALL_END, toolCallId })]
  }

  /** A whole call: its name and all of its arguments. */
  toolCall(agentId: string, toolName: string, args: unknown): StreamChunk[] {
    const delta = JSON.stringify(args ?? {}) ?? '{}'
    return [...this.toolStart(agentId, toolName), ...this.toolArgs(agentId, delta), ...this.toolEnd(agentId)]
  }

  toolResult(agentId: string, content: string): StreamChunk[] {
    const toolCallId = this.idOf(agentId)
    const messageId = this.idOf(`${agentId}\u0000result`)
    return [
      ...this.endText(),
      ...this.toolEnd(agentId),
      this.chunk({ type: EventType.TOOL_CALL_RESULT, messageId, toolCallId, content, role: 'tool' }),
    ]
  }

  custom(name: string, value: unknown): StreamChunk[] {
    return [this.chunk({ type: EventType.CUSTOM, name, value })]
  }

  /** Ends all that is open. Repeatable. */
  endAll(): StreamChunk[] {
    const calls = [...this.#openCalls].map((toolCallId) => this.chunk({ type: EventType.TOOL_CALL_END, toolCallId }))
    this.#openCalls.clear()
    return [...this.endText(), ...calls]
  }

  #begin(kind: OpenKind): StreamChunk[] {
    if (this.#open?.kind === kind) return []
    const ended = this.endText()
    const messageId = kind === 'text' ? this.idOf(ANSWER) : this.#nextId()
    this.#open = { kind, messageId }
    if (kind === 'text')
      return [...ended, this.chunk({ type: EventType.TEXT_MESSAGE_START, messageId, role: 'assistant' })]
    return [
      ...ended,
      this.chunk({ type: EventType.REASONING_START, messageId }),
      this.chunk({ type: EventType.REASONING_MESSAGE_START, messageId, role: 'reasoning' }),
    ]
  }

  #content(type: string, delta: string): StreamChunk {
    return this.chunk({ type, messageId: this.#open?.messageId, delta })
  }

  #nextId(): string {
    return `${this.runId}-${(this.#count += 1)}`
  }
}

/** No agent has this id for anything. */
const ANSWER = '\u0000answer'
