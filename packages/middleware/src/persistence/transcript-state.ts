import { systemClock } from '@holdfast/core'
import type { HoldfastStores, RunRecord } from '@holdfast/core'
import type { ChatMiddlewareContext, ModelMessage, StreamChunk } from '@tanstack/ai'
import { retryStore } from '../runs/retry-store.ts'
import type { RunOutcome } from '../runs/run-outcome.ts'
import type { RunSession } from '../runs/run-session.ts'
import { isInterruptChunk } from '../runs/terminal-chunk.ts'
import { closeOpenToolCalls } from './open-tool-calls.ts'
import { partialMessage } from './partial-message.ts'
import { markRun } from './run-mark.ts'
import { ToolHistory } from './tool-history.ts'
import { ToolProgress } from './tool-progress.ts'
import { toRunError } from '../runs/run-error.ts'
import { withoutSecrets } from '../secrets/redacted-error.ts'
import type { SecretRedactor } from '../secrets/secret-redactor.ts'

/** What persistence knows of one run while it goes on. */
export class TranscriptState {
  readonly #stores: HoldfastStores
  readonly #ctx: ChatMiddlewareContext
  readonly #history = new ToolHistory()
  readonly #progress = new ToolProgress()
  #interrupts: Record<string, unknown>[] = []
  /** Absent while the chat is no durable run. */
  session: RunSession | undefined
  /** Messages before this index were there when the run began. */
  turnLength: number | undefined
  usage: RunRecord['usage']

  constructor(input: { stores: HoldfastStores; ctx: ChatMiddlewareContext }) {
    this.#stores = input.stores
    this.#ctx = input.ctx
  }

  observe(chunk: StreamChunk): void {
    this.#history.observe(chunk)
    if (!isInterruptChunk(chunk)) return
    const outcome = Reflect.get(chunk, 'outcome') as { interrupts?: Record<string, unknown>[] }
    this.#interrupts = outcome.interrupts ?? []
  }

  /** Stores that a tool call begins, before it does. */
  async toolStarts(toolCallId: string): Promise<void> {
    this.#progress.start(toolCallId)
    await this.saveStep()
  }

  /**
   * Stores the result of a tool call. A store that is away is left to the next step, which stores it too before anything
   * begins: thrown here, the engine would take the failure for a second result of the tool.
   */
  async toolEnds(toolCallId: string, outcome: { ok: boolean; result?: unknown; error?: unknown }): Promise<void> {
    this.#progress.finish(toolCallId, outcome)
    await this.saveStep().catch((error: unknown) => reportUnsavedResult(error, this.session?.redactor))
  }

  /** Stores the transcript as it is now. */
  async saveStep(): Promise<void> {
    await this.#save(this.#messages({ hasEnded: false }))
  }

  /** Stores the transcript as this end of the run leaves it. */
  async saveEnd(outcome: RunOutcome): Promise<void> {
    if (outcome.status === 'lost' || !this.#knowsThread()) return
    // Whoever continues starts from the last step: half a sentence is said again, and a call that waits is made.
    if (outcome.status === 'detached') return this.saveStep()
    const isCut = outcome.status === 'failed' || outcome.status === 'aborted'
    const messages = this.#messages({ hasEnded: outcome.status !== 'interrupted', isCut })
    if (outcome.status === 'interrupted') await this.#saveInterrupted(messages)
    else await this.#save(isCut ? closeOpenToolCalls(messages, this.#now()) : messages)
    await this.#retry(() => this.#stores.threads.touch(this.#ctx.threadId))
  }

  async #saveInterrupted(messages: ModelMessage[]): Promise<void> {
    await this.#save(messages)
    for (const [index, payload] of this.#interrupts.entries()) {
      const { runId, threadId } = this.#ctx
      const pause = { interruptId: String(payload['id']), runId, threadId, requestedAt: this.#now() + index, payload }
      await this.#retry(() => this.#stores.interrupts.create(pause))
    }
  }

  #retry(work: () => Promise<void>): Promise<void> {
    return retryStore(this.session?.clock ?? systemClock, work)
  }

  /** What the model had said of a message that it did not finish. */
  #withPartialText(messages: ModelMessage[]): ModelMessage[] {
    const { currentMessageId, accumulatedContent } = this.#ctx
    if (accumulatedContent === '' || currentMessageId === null) return messages
    if (messages.some((message) => message.id === currentMessageId)) return messages
    return [...messages, partialMessage(currentMessageId, accumulatedContent, this.#now())]
  }

  /** Before the turn is stored the chat has what the client sent, which would replace the stored thread. */
  #knowsThread(): boolean {
    return this.session !== undefined || this.turnLength !== undefined
  }

  #messages(options: { hasEnded: boolean; isCut?: boolean }): ModelMessage[] {
    const now = this.#now()
    const current = this.turnLength === undefined ? (this.session?.turn ?? this.#ctx.messages) : this.#ctx.messages
    const made = this.#progress.addTo(current, now)
    return this.#history.addTo(options.isCut === true ? this.#withPartialText(made) : made, now, options)
  }

  async #save(messages: readonly ModelMessage[]): Promise<void> {
    const from = this.turnLength ?? messages.length
    const { threadId, runId } = this.#ctx
    const marked = markRun(messages, from, runId)
    const clean = this.session?.redactor?.json(marked) ?? marked
    const save = (): Promise<void> => this.#stores.messages.saveThread(threadId, clean, this.session?.fence)
    await withoutSecrets(this.session?.redactor, () => retryStore(this.session?.clock ?? systemClock, save))
  }

  #now(): number {
    return this.session?.clock.now() ?? Date.now()
  }
}

function reportUnsavedResult(error: unknown, redactor: SecretRedactor | undefined): void {
  process.emitWarning('The result of a tool call is not stored yet; the next step stores it.', {
    code: 'HOLDFAST_TRANSCRIPT',
    detail: toRunError(error, redactor).message,
  })
}
