import type { ModelMessage } from '@tanstack/ai'

/** Where a stored message says which of its tool calls were begun. */
const STARTED = 'holdfastStarted'

interface FinishedCall {
  content: string
  failed: boolean
}

/**
 * Which tool calls of a run have begun and which have ended, for whoever continues it: a call that began and has no result
 * is not run again.
 */
export class ToolProgress {
  readonly #started = new Set<string>()
  readonly #finished = new Map<string, FinishedCall>()

  start(toolCallId: string): void {
    this.#started.add(toolCallId)
  }

  finish(toolCallId: string, outcome: { ok: boolean; result?: unknown; error?: unknown }): void {
    const { ok, result, error } = outcome
    const value = ok ? result : { error: error instanceof Error ? error.message : String(error) }
    this.#finished.set(toolCallId, { content: textOf(value), failed: !ok })
  }

  /** The transcript with what is known of its open calls. Results that the engine has added are left alone. */
  addTo(messages: readonly ModelMessage[], now: number): ModelMessage[] {
    const answered = new Set(messages.flatMap((message) => message.toolCallId ?? []))
    return messages.flatMap((message) => {
      const open = message.toolCalls?.filter((call) => !answered.has(call.id)) ?? []
      const started = open.map((call) => call.id).filter((id) => this.#started.has(id))
      if (started.length === 0) return [message]
      const marked = { ...message, metadata: { ...message.metadata, [STARTED]: started } }
      return [marked, ...started.flatMap((id) => this.#resultOf(id, now))]
    })
  }

  #resultOf(toolCallId: string, now: number): ModelMessage[] {
    const finished = this.#finished.get(toolCallId)
    if (finished === undefined) return []
    const { content, failed } = finished
    const message: ModelMessage = {
      role: 'tool',
      id: `${toolCallId}-result`,
      toolCallId,
      content,
      createdAt: new Date(now),
    }
    return [failed ? { ...message, error: 'failed' } : message]
  }
}

/** Ids of the tool calls that had begun when the message was stored. */
export function startedCalls(message: ModelMessage): ReadonlySet<string> {
  const started: unknown = message.metadata?.[STARTED]
  return new Set(Array.isArray(started) ? started.filter((id) => typeof id === 'string') : [])
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null')
}
