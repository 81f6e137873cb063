import { CancelledError, HoldfastError } from '@holdfast/core'
import type { HoldfastStores } from '@holdfast/core'
import { defineChatMiddleware } from '@tanstack/ai'
import type { ChatMiddlewareConfig, ChatMiddlewareContext, DefinedChatMiddleware } from '@tanstack/ai'
import { PendingTurnCapability } from '@tanstack/ai/adapter-internals'
import { mergeTurn } from '../runs/merge-turn.ts'
import { toRunError } from '../runs/run-error.ts'
import type { RunOutcome } from '../runs/run-outcome.ts'
import { findSession } from '../runs/session-registry.ts'
import { answerPauses } from './answer-pauses.ts'
import { CompletionCapability, InterruptsCapability, PersistenceCapability } from './persistence-capabilities.ts'
import { withoutObserved } from './tool-history.ts'
import { TranscriptState } from './transcript-state.ts'

interface Persistence {
  state: TranscriptState
  /** Stores the end once, whoever asks first. */
  end: (outcome: RunOutcome) => Promise<void>
}

/**
 * Keeps the transcript, the interrupts and, for a run that `beginRun` did not claim, the run record. Put it before
 * `withSandbox`. The transcript is stored with the person's turn, after every turn of the model, and at the end whatever
 * it is, open tool calls closed; each write is refused by the store once another host has taken the run over.
 */
export function withPersistence(
  stores: HoldfastStores,
): DefinedChatMiddleware<unknown, readonly [], readonly [typeof PersistenceCapability, typeof CompletionCapability]> {
  const runs = new WeakMap<ChatMiddlewareContext, Persistence>()
  const end = async (ctx: ChatMiddlewareContext, outcome: RunOutcome): Promise<void> => {
    const session = findSession(stores, ctx.runId)
    await runs.get(ctx)?.end(session?.stoppedOutcome() ?? outcome)
  }
  return defineChatMiddleware({
    name: 'holdfast-persistence',
    provides: [PersistenceCapability, CompletionCapability],
    async setup(ctx) {
      runs.set(ctx, await startPersistence(stores, ctx))
    },
    onConfig: (ctx, config) => configure(stores, ctx, config, runs.get(ctx)?.state),
    onChunk(ctx, chunk) {
      runs.get(ctx)?.state.observe(chunk)
    },
    async onBeforeToolCall(ctx, call) {
      await runs.get(ctx)?.state.toolStarts(call.toolCallId)
      return undefined
    },
    async onAfterToolCall(ctx, info) {
      await runs.get(ctx)?.state.toolEnds(info.toolCallId, info)
    },
    onFinish: (ctx, info) =>
      end(ctx, { status: 'completed', ...(info.usage === undefined ? {} : { usage: info.usage }) }),
    onError: (ctx, info) => end(ctx, { status: 'failed', error: toRunError(info.error) }),
    onAbort: (ctx) => end(ctx, { status: 'aborted', keepSandbox: false }),
  })
}

async function startPersistence(stores: HoldfastStores, ctx: ChatMiddlewareContext): Promise<Persistence> {
  const session = findSession(stores, ctx.runId)
  const state = new TranscriptState({ stores, ctx, session })
  const completion = completionOf()
  const save = async (outcome: RunOutcome): Promise<void> => {
    try {
      await state.saveEnd(outcome)
      completion.settle(outcome)
    } catch (error) {
      completion.fail(error)
      throw error
    }
  }
  ctx.provide(PersistenceCapability, stores)
  ctx.provide(InterruptsCapability, stores.interrupts)
  ctx.provide(CompletionCapability, { waitForRunCompletion: () => completion.promise })
  ctx.provide(PendingTurnCapability, { snapshot: () => state.saveStep() })
  if (session === undefined) {
    await stores.runs.createOrResume({ runId: ctx.runId, threadId: ctx.threadId, startedAt: Date.now() })
    return { state, end: recordedEnd(stores, ctx, save) }
  }
  session.addEndHandler({ name: 'transcript', run: save })
  return {
    state,
    end: async (outcome) => {
      session.settle(outcome)
      await session.runEndHandler('transcript', outcome)
    },
  }
}

/** Without `beginRun` the record is kept here, unfenced, as TanStack's own persistence does. */
function recordedEnd(
  stores: HoldfastStores,
  ctx: ChatMiddlewareContext,
  save: (outcome: RunOutcome) => Promise<void>,
): (outcome: RunOutcome) => Promise<void> {
  let ending: Promise<void> | undefined
  const run = async (outcome: RunOutcome): Promise<void> => {
    await save(outcome)
    if (outcome.status === 'detached' || outcome.status === 'lost') return
    const finishedAt = outcome.status === 'interrupted' ? {} : { finishedAt: Date.now() }
    const error = outcome.status === 'failed' ? { error: outcome.error } : {}
    await stores.runs.update(ctx.runId, { status: outcome.status, ...finishedAt, ...error })
  }
  return (outcome) => (ending ??= run(outcome))
}

async function configure(
  stores: HoldfastStores,
  ctx: ChatMiddlewareContext,
  config: ChatMiddlewareConfig,
  state: TranscriptState | undefined,
): Promise<Partial<ChatMiddlewareConfig> | undefined> {
  if (state === undefined) return undefined
  if (ctx.phase === 'beforeModel' && ctx.iteration > 0) await state.saveStep()
  const messages = ctx.phase === 'init' ? await startTurn(stores, ctx, config, state) : config.messages
  const visible = withoutObserved(messages)
  const hasHidden = visible.length !== messages.length
  return { messages, ...(hasHidden ? { providerMessages: visible } : {}) }
}

async function startTurn(
  stores: HoldfastStores,
  ctx: ChatMiddlewareContext,
  config: ChatMiddlewareConfig,
  state: TranscriptState,
): Promise<ChatMiddlewareConfig['messages']> {
  const isResume = (config.resume?.length ?? 0) > 0
  let messages = config.messages
  if (findSession(stores, ctx.runId) === undefined) {
    const stored = await stores.messages.loadThread(ctx.threadId)
    messages = mergeTurn({ stored, incoming: messages, isResume, now: Date.now() })
    await stores.messages.saveThread(ctx.threadId, messages)
    const { threadId, runId } = ctx
    await answerPauses({ stores, threadId, runId, now: Date.now() }, config.resume ?? [])
  }
  state.turnLength = messages.length
  return messages
}

function completionOf(): {
  promise: Promise<void>
  settle: (outcome: RunOutcome) => void
  fail: (error: unknown) => void
} {
  let settle: (outcome: RunOutcome) => void = () => undefined
  let fail: (error: unknown) => void = () => undefined
  const promise = new Promise<void>((resolve, reject) => {
    fail = reject
    settle = (outcome) => {
      if (outcome.status === 'completed' || outcome.status === 'interrupted') resolve()
      else if (outcome.status === 'failed') reject(new HoldfastError('CANCELLED', outcome.error.message))
      else reject(new CancelledError('CANCELLED', `The run was ${outcome.status}.`))
    }
  })
  promise.catch(() => undefined)
  return { promise, settle, fail }
}
