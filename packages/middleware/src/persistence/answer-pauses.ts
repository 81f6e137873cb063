import { ConflictError } from '@holdfast/core'
import type { HoldfastStores, InterruptRecord } from '@holdfast/core'
import type { ChatRequest } from '../runs/request-body.ts'

/** What a person answered to the pauses of a run, as TanStack's client sends it. */
export type PauseAnswers = NonNullable<ChatRequest['resume']>

/** The run that answers them, or goes on without an answer. */
interface Successor {
  stores: HoldfastStores
  threadId: string
  runId: string
  now: number
}

/** `INTERRUPT_CONFLICT` when somebody has answered before, or has ended the run that asked. */
export async function assertUnanswered(
  { stores, threadId }: Pick<Successor, 'stores' | 'threadId'>,
  answers: PauseAnswers,
): Promise<void> {
  for (const { interruptId } of answers) {
    const pause = await findPause(stores, threadId, interruptId)
    if (pause === undefined || pause.status === 'pending') continue
    const message = 'This was decided already. Load the thread again to see how it went on.'
    throw new ConflictError('INTERRUPT_CONFLICT', message, { details: { interruptId } })
  }
}

/** Stores the answers, and that the runs which waited for them are over: the successor goes on. Repeatable. */
export async function answerPauses(successor: Successor, answers: PauseAnswers): Promise<void> {
  const { stores, threadId } = successor
  const found = await Promise.all(answers.map(({ interruptId }) => findPause(stores, threadId, interruptId)))
  const waited = found.filter((pause) => pause !== undefined)
  await endWaiting(successor, waited, 'completed')
  for (const answer of answers) {
    if (!waited.some(({ interruptId }) => interruptId === answer.interruptId)) continue
    if (answer.status === 'resolved') await stores.interrupts.resolve(answer.interruptId, answer.payload)
    else await stores.interrupts.cancel(answer.interruptId)
  }
}

/** Nobody will answer what the thread waits for: a person has said something else. Repeatable. */
export async function giveUpPauses(successor: Successor, pending: readonly InterruptRecord[]): Promise<void> {
  await endWaiting(successor, pending, 'aborted')
  for (const { interruptId } of pending) await successor.stores.interrupts.cancel(interruptId)
}

/** One of another thread may be another person's, and is as good as missing. */
async function findPause(
  stores: HoldfastStores,
  threadId: string,
  interruptId: string,
): Promise<InterruptRecord | undefined> {
  const pause = await stores.interrupts.get(interruptId)
  return pause?.threadId === threadId ? pause : undefined
}

/** Before the answers are stored: a host that dies in between leaves pauses, by which the next one finds what is left. */
async function endWaiting(
  { stores: { runs }, runId, now }: Successor,
  pauses: readonly InterruptRecord[],
  status: 'completed' | 'aborted',
): Promise<void> {
  const waited = new Set(pauses.map((pause) => pause.runId).filter((waiting) => waiting !== runId))
  for (const waiting of waited) {
    const isWaiting = (await runs.get(waiting))?.status === 'interrupted'
    if (isWaiting) await runs.update(waiting, { status, finishedAt: now })
  }
}
