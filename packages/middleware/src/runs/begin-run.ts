import { InvalidInputError } from '@holdfast/core'
import { beginOrQueue } from '../queue/begin-or-queue.ts'
import type { BeginRunInput } from './begin-run-input.ts'
import { readChatRequest } from './request-body.ts'
import type { ChatRequest } from './request-body.ts'
import type { Run } from './run.ts'
import { startRun } from './start-run.ts'

/**
 * Claims the run and its thread, stores the person's turn, and starts the heartbeat: from here on the run survives its
 * viewer. Call it before `chat()`.
 *
 * Rejects with `THREAD_BUSY` while another run holds the thread (`whenBusy` can say otherwise), also one that this call
 * took over from a host that died (see `driver`); `RUN_CONFLICT` when the run
 * id is another thread's, `RUN_TERMINAL`, `RUN_CANCELLED` or `DRIVER_HELD` when the run exists already (attach to it
 * instead), `THREAD_NOT_FOUND` for a foreign thread, and the codes of `readChatRequest`. In a queue also with
 * `LIMIT_EXCEEDED` when too many wait, and `CANCELLED` when this host shuts down. A refused call leaves nothing
 * behind, but for one whose messages are all stored already: its run is recorded as failed.
 */
export async function beginRun(input: BeginRunInput): Promise<Run> {
  const { request: _request, ...rest } = input
  const chat = input.chat ?? (await readChatRequest(requestOf(input)))
  assertHasTurn(chat)
  if (input.whenBusy !== 'queue') return startRun({ ...rest, chat })
  const begun = await beginOrQueue({ ...rest, chat })
  return begun.run ?? begun.queued
}

/** Seen before anything is claimed. Whether a message is new shows only with the stored transcript, under the claim. */
function assertHasTurn({ messages, resume = [] }: ChatRequest): void {
  if (messages.length > 0 || resume.length > 0) return
  throw new InvalidInputError('INVALID_ARGUMENT', 'The request holds no message to answer.')
}

function requestOf(input: BeginRunInput): Request {
  if (input.request === undefined) throw new TypeError('beginRun needs `request` or `chat`.')
  return input.request
}
