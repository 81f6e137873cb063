import { InvalidInputError } from '@holdfast/core'
import type { HoldfastStores } from '@holdfast/core'
import type { ChatMiddlewareConfig, ChatMiddlewareContext, ModelMessage } from '@tanstack/ai'
import { PendingTurnCapability } from '@tanstack/ai/adapter-internals'
import { mergeTurn } from '../runs/merge-turn.ts'
import type { RunOutcome } from '../runs/run-outcome.ts'
import type { RunSession } from '../runs/run-session.ts'
import { findSession } from '../runs/session-registry.ts'
import { answerPauses, assertUnanswered } from './answer-pauses.ts'
import type { PauseAnswers } from './answer-pauses.ts'
import { ClaimedSessionCapability, ClaimListenerCapability } from './claim-listener.ts'
import { CompletionCapability, InterruptsCapability, PersistenceCapability } from './persistence-capabilities.ts'
import { SettledCompletion } from './run-completion.ts'
import { hasTurn } from './run-mark.ts'
import { TranscriptState } from './transcript-state.ts'

/**
 * What is stored of one chat. It drives a claimed run, whose writes are fenced, or none; which of the two can show after
 * this was set up, so that nothing is written before it is known.
 */
export class ChatPersistence {
  readonly state: TranscriptState
  readonly #stores: HoldfastStores
  readonly #ctx: ChatMiddlewareContext
  readonly #completion = new SettledCompletion()
  #isRefused = false
  #turn: Promise<ModelMessage[]> | undefined
  #ending: Promise<void> | undefined

  constructor(stores: HoldfastStores, ctx: ChatMiddlewareContext) {
    this.#stores = stores
    this.#ctx = ctx
    this.state = new TranscriptState({ stores, ctx })
    ctx.provide(PersistenceCapability, stores)
    ctx.provide(InterruptsCapability, stores.interrupts)
    ctx.provide(CompletionCapability, this.#completion)
    ctx.provide(PendingTurnCapability, { snapshot: () => this.#storePendingTurn() })
    ctx.provide(ClaimListenerCapability, {
      claimed: (session) => this.#drive(session),
      refused: () => {
        this.#isRefused = true
      },
    })
    const session = this.#begunSession()
    if (session !== undefined) this.#drive(session)
  }

  /** The conversation that the model sees, with the person's turn stored. */
  async startTurn({ messages, resume = [] }: ChatMiddlewareConfig): Promise<ModelMessage[]> {
    const session = this.state.session
    const isResume = resume.length > 0
    const turn = session === undefined ? await this.#storeTurn(messages, isResume) : (session.turn ?? messages)
    if (session === undefined) await this.#answer(resume)
    else if (session.turn !== undefined) await this.#answerLate(session.turn, resume)
    this.state.turnLength = turn.length
    return [...turn]
  }

  /** Stores the end once, whoever asks first. */
  async end(outcome: RunOutcome): Promise<void> {
    const session = this.state.session
    if (this.#isRefused) this.#completion.settle(outcome)
    else if (session === undefined) await (this.#ending ??= this.#endRecorded(outcome))
    else {
      const settled = session.stoppedOutcome() ?? outcome
      session.settle(settled)
      await session.runEndHandler('transcript', settled)
    }
  }

  /** The run that was claimed before this was set up. */
  #begunSession(): RunSession | undefined {
    const claimed = ClaimedSessionCapability[0](this.#ctx, { optional: true })
    const found = claimed ?? findSession(this.#stores, this.#ctx.runId)
    return claimed === undefined && found?.isOfChat === true ? undefined : found
  }

  #drive(session: RunSession): void {
    this.state.session = session
    session.addEndHandler({ name: 'transcript', run: (outcome) => this.#save(outcome) })
  }

  async #save(outcome: RunOutcome): Promise<void> {
    try {
      await this.state.saveEnd(outcome)
      this.#completion.settle(outcome)
    } catch (error) {
      this.#completion.fail(error)
      throw error
    }
  }

  async #storePendingTurn(): Promise<void> {
    if (this.state.session !== undefined) await this.state.saveStep()
    else await this.#storeTurn([...this.#ctx.messages], false)
  }

  /** Without a claim the turn and the record are stored here, unfenced, as TanStack's own persistence does. */
  async #storeTurn(messages: ModelMessage[], isResume: boolean): Promise<ModelMessage[]> {
    try {
      return await (this.#turn ??= this.#mergeAndStore(messages, isResume))
    } catch (error) {
      this.#turn = undefined
      throw error
    }
  }

  async #mergeAndStore(incoming: ModelMessage[], isResume: boolean): Promise<ModelMessage[]> {
    const { messages } = this.#stores
    const { threadId } = this.#ctx
    await this.#record()
    const stored = await messages.loadThread(threadId)
    const merged = mergeTurn({ stored, incoming, isResume, now: Date.now() })
    await messages.saveThread(threadId, merged)
    return merged
  }

  async #answer(resume: PauseAnswers): Promise<void> {
    const { threadId, runId } = this.#ctx
    const now = this.state.session?.clock.now() ?? Date.now()
    await answerPauses({ stores: this.#stores, threadId, runId, now }, resume)
  }

  async #record(): Promise<void> {
    const { runId, threadId } = this.#ctx
    await this.#stores.runs.createOrResume({ runId, threadId, startedAt: Date.now() })
  }

  /** The run was claimed before it could be known what the chat answers. */
  async #answerLate(turn: readonly ModelMessage[], resume: PauseAnswers): Promise<void> {
    const { threadId, runId } = this.#ctx
    if (resume.length === 0) {
      if (hasTurn(turn, runId)) return
      throw new InvalidInputError('INVALID_ARGUMENT', 'The request holds no new message to answer.')
    }
    await assertUnanswered({ stores: this.#stores, threadId }, resume)
    await this.#answer(resume)
  }

  async #endRecorded(outcome: RunOutcome): Promise<void> {
    await this.#record()
    await this.#save(outcome)
    if (outcome.status === 'detached' || outcome.status === 'lost') return
    const finishedAt = outcome.status === 'interrupted' ? {} : { finishedAt: Date.now() }
    const error = outcome.status === 'failed' ? { error: outcome.error } : {}
    await this.#stores.runs.update(this.#ctx.runId, { status: outcome.status, ...finishedAt, ...error })
  }
}
