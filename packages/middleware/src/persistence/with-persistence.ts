import type { HoldfastStores } from '@holdfast/core'
import { defineChatMiddleware } from '@tanstack/ai'
import type { ChatMiddlewareConfig, ChatMiddlewareContext, DefinedChatMiddleware } from '@tanstack/ai'
import { toRunError } from '../runs/run-error.ts'
import type { RunOutcome } from '../runs/run-outcome.ts'
import { ChatPersistence } from './chat-persistence.ts'
import { CompletionCapability, PersistenceCapability } from './persistence-capabilities.ts'
import { withoutObserved } from './tool-history.ts'

/**
 * Keeps the transcript, the interrupts and, for a chat that drives no claimed run, the run record. Put it before
 * `withSandbox`. The transcript is stored with the person's turn, after every turn of the model, and at the end whatever
 * it is, open tool calls closed; each write is refused by the store once another host has taken the run over.
 */
export function withPersistence(
  stores: HoldfastStores,
): DefinedChatMiddleware<unknown, readonly [], readonly [typeof PersistenceCapability, typeof CompletionCapability]> {
  const chats = new WeakMap<ChatMiddlewareContext, ChatPersistence>()
  const end = async (ctx: ChatMiddlewareContext, outcome: RunOutcome): Promise<void> => chats.get(ctx)?.end(outcome)
  return defineChatMiddleware({
    name: 'holdfast-persistence',
    provides: [PersistenceCapability, CompletionCapability],
    setup(ctx) {
      chats.set(ctx, new ChatPersistence(stores, ctx))
    },
    onConfig: (ctx, config) => configure(chats.get(ctx), ctx, config),
    onChunk(ctx, chunk) {
      chats.get(ctx)?.state.observe(chunk)
    },
    async onBeforeToolCall(ctx, call) {
      await chats.get(ctx)?.state.toolStarts(call.toolCallId)
      return undefined
    },
    async onAfterToolCall(ctx, info) {
      await chats.get(ctx)?.state.toolEnds(info.toolCallId, info)
    },
    onFinish: (ctx, info) =>
      end(ctx, { status: 'completed', ...(info.usage === undefined ? {} : { usage: info.usage }) }),
    onError: (ctx, info) =>
      end(ctx, { status: 'failed', error: toRunError(info.error, chats.get(ctx)?.state.session?.redactor) }),
    onAbort: (ctx) => end(ctx, { status: 'aborted', keepSandbox: false }),
  })
}

async function configure(
  chat: ChatPersistence | undefined,
  ctx: ChatMiddlewareContext,
  config: ChatMiddlewareConfig,
): Promise<Partial<ChatMiddlewareConfig> | undefined> {
  if (chat === undefined) return undefined
  if (ctx.phase === 'beforeModel' && ctx.iteration > 0) await chat.state.saveStep()
  const messages = ctx.phase === 'init' ? await chat.startTurn(config) : config.messages
  const visible = withoutObserved(messages)
  const hasHidden = visible.length !== messages.length
  return { messages, ...(hasHidden ? { providerMessages: visible } : {}) }
}
