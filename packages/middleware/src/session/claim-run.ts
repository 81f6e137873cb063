import { assertId, InvalidInputError } from '@holdfast/core'
import { isCancelRequestedReason } from '@tanstack/ai'
import { ClaimedSessionCapability, ClaimListenerCapability } from '../persistence/claim-listener.ts'
import { PersistenceCapability } from '../persistence/persistence-capabilities.ts'
import { hasTurn } from '../persistence/run-mark.ts'
import type { LateBoundLog } from '../runs/late-bound-log.ts'
import { messagesSnapshot } from '../runs/messages-snapshot.ts'
import type { Run } from '../runs/run.ts'
import type { StopReason } from '../runs/run-outcome.ts'
import { startRun } from '../runs/start-run.ts'
import type { SandboxSession } from './sandbox-session.ts'

/**
 * Makes the chat a durable run, where its log was given without a claim: claims run and thread, stores the person's turn,
 * and binds the log to the claim's epoch. What it rejects with is said at `beginRun`. A refused chat stores nothing, and
 * may not touch the thread's sandbox, which can be another run's.
 */
export async function claimRun(session: SandboxSession, log: LateBoundLog): Promise<void> {
  const persistence = ClaimListenerCapability[0](session.ctx, { optional: true })
  const run = await startChatRun(session, log).catch((error: unknown) => {
    log.refuse(error)
    persistence?.refused()
    throw error
  })
  session.run = run
  log.bind(run)
  session.ctx.provide(ClaimedSessionCapability, run.session)
  persistence?.claimed(run.session)
  stopWithChat(session, run)
  await showConversation(run)
}

function assertWiring({ ctx }: SandboxSession, log: LateBoundLog): void {
  const stores = PersistenceCapability[0](ctx, { optional: true })
  const faults = [
    ctx.runId === log.runId ? '' : 'chat() needs the `runId` that the request names',
    log.isProducing ? '' : 'the response needs the same `durability`, or nothing of the run is stored',
    stores === undefined || stores === log.stores ? '' : 'withPersistence needs the stores of durableLog',
  ].filter((fault) => fault !== '')
  if (faults.length > 0) throw new InvalidInputError('INVALID_CONFIGURATION', `For a durable run ${faults.join('; ')}.`)
}

async function startChatRun(session: SandboxSession, log: LateBoundLog): Promise<Run> {
  assertWiring(session, log)
  const { ctx, options } = session
  const { stores, clock } = log
  const { parentRunId } = ctx
  const run = await startRun({
    stores,
    clock,
    chat: {
      runId: assertId('runId', ctx.runId),
      threadId: assertId('threadId', ctx.threadId),
      messages: [...ctx.messages],
      forwardedProps: {},
      ...(parentRunId === undefined ? {} : { parentRunId }),
    },
    fromChat: true,
    detachOnDisconnect: options.durability?.detachOnDisconnect ?? true,
    ...(options.tenant === undefined ? {} : { tenant: options.tenant }),
  })
  run.session.turn = run.chat.messages
  return run
}

/** A run that goes on in the middle of a turn: who joins it has only its events to show that turn. */
async function showConversation({ chat, session, eventLog }: Run): Promise<void> {
  if (!hasTurn(chat.messages, chat.runId)) await eventLog.append([messagesSnapshot(chat.messages, session.clock.now())])
}

/** An app may end the chat through a controller of its own. Its reason says whether a person wanted that. */
function stopWithChat({ ctx }: SandboxSession, run: Run): void {
  const { signal } = ctx
  if (signal === undefined) return
  const stop = (): void => run.session.stop(reasonOf(signal, run))
  if (signal.aborted) {
    stop()
    return
  }
  signal.addEventListener('abort', stop, { once: true })
  void run.session.ended.then(() => signal.removeEventListener('abort', stop))
}

/** Without a person's word the run goes on: another host takes it over. */
function reasonOf({ reason }: AbortSignal, run: Run): StopReason {
  if (typeof reason === 'string' && isCancelRequestedReason(reason)) return 'cancel'
  return run.detachOnDisconnect ? 'host-stop' : 'disconnect'
}
