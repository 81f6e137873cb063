import { ConflictError } from '@holdfast/core'
import type { HoldfastStores } from '@holdfast/core'
import type { ChatRequest } from '../runs/request-body.ts'

/** What a person answered to the pauses of a run, as TanStack's client sends it. */
export type PauseAnswers = NonNullable<ChatRequest['resume']>

/** `INTERRUPT_CONFLICT` when somebody has answered before, or has ended the run that asked. */
export async function assertUnanswered(stores: HoldfastStores, answers: PauseAnswers): Promise<void> {
  for (const { interruptId } of answers) {
    const pause = await stores.interrupts.get(interruptId)
    if (pause === null || pause.status === 'pending') continue
    const message = 'This was decided already. Load the thread again to see how it went on.'
    throw new ConflictError('INTERRUPT_CONFLICT', message, { details: { interruptId } })
  }
}

/** Stores the answers. What waited for them is over: `runId` goes on in its place. Repeatable. */
export async function answerPauses(
  stores: HoldfastStores,
  answers: PauseAnswers,
  { runId, now }: { runId: string; now: number },
): Promise<void> {
  const waited = new Set<string>()
  for (const answer of answers) {
    const pause = await stores.interrupts.get(answer.interruptId)
    if (pause !== null && pause.runId !== runId) waited.add(pause.runId)
    if (answer.status === 'resolved') await stores.interrupts.resolve(answer.interruptId, answer.payload)
    else await stores.interrupts.cancel(answer.interruptId)
  }
  await endWaiting(stores, waited, { status: 'completed', finishedAt: now })
}

/** Nobody will answer what the thread waits for: a person has said something else. Repeatable. */
export async function giveUpPauses(
  stores: HoldfastStores,
  threadId: string,
  { runId, now }: { runId: string; now: number },
): Promise<void> {
  const waited = new Set<string>()
  for (const pause of await stores.interrupts.listPending(threadId)) {
    if (pause.runId !== runId) waited.add(pause.runId)
    await stores.interrupts.cancel(pause.interruptId)
  }
  await endWaiting(stores, waited, { status: 'aborted', finishedAt: now })
}

async function endWaiting(
  { runs }: HoldfastStores,
  runIds: ReadonlySet<string>,
  end: { status: 'completed' | 'aborted'; finishedAt: number },
): Promise<void> {
  for (const runId of runIds) if ((await runs.get(runId))?.status === 'interrupted') await runs.update(runId, end)
}
