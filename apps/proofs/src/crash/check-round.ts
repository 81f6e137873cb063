import { setTimeout as wait } from 'node:timers/promises'
import type { ModelMessage } from '@tanstack/ai'
import { screenOf } from '../simulation/check-runs.ts'
import { isFinal } from '../simulation/final-event.ts'
import { refusalsOf } from '../simulation/strict-model.ts'
import { checkpointsOf } from './checkpoint-stages.ts'
import { eventsOf, sendRequest, WHOLE_TEXT } from './crash-app.mjs'
import type { CrashResult, SecondHost } from './crash-round.ts'
import { endedRecord } from './ended-record.ts'
import { labelOf, sandboxesWith } from './thread-sandboxes.ts'

/** What differs from a run that nobody disturbed; empty when nothing does. */
export async function faultsOfRound(second: SecondHost, threadId: string, result: CrashResult): Promise<string[]> {
  const faults: string[] = []
  let runId = `${threadId}-run`
  if (await wasNeverAsked(second, runId, result)) {
    // The host died before the question was stored: the person sees that, and asks again.
    runId = `${threadId}-again`
    result.events.length = 0
    for await (const event of eventsOf(await second.routes.handle(sendRequest(runId, threadId)))) {
      result.events.push(event)
    }
  }
  await checkLog(second, runId, result, faults)
  await checkTranscript(second, threadId, faults)
  await checkSandbox(second, threadId, faults)
  if (second.savesCheckpoints)
    await checkCheckpoint(second, { threadId, runId, hasLived: result.exit === 'lived' }, faults)
  await checkNextMessage(second, threadId, faults)
  await removeThread(second, threadId, faults)
  return faults
}

/** Only an error, and not a word of the run. */
async function wasNeverAsked({ stores }: SecondHost, runId: string, { events }: CrashResult): Promise<boolean> {
  const record = await endedRecord(stores, runId)
  return record?.status === 'failed' && record.error?.code === 'HOST_LOST' && events.length === 1
}

async function checkLog(
  { stores }: SecondHost,
  runId: string,
  { events }: CrashResult,
  faults: string[],
): Promise<void> {
  const record = await endedRecord(stores, runId)
  if (record?.status !== 'completed') faults.push(`the run is ${record?.status}: ${record?.error?.message}`)
  const entries = await stores.eventLog.open({ runId }).snapshot()
  const chunks = entries.map((entry) => entry.chunk)
  if ((await stores.eventLog.find(runId))?.isClosed !== true) faults.push('the log is open')
  if (chunks.filter(isFinal).length !== 1 || !isFinal(chunks.at(-1))) faults.push('the log has not exactly one end')
  if (screenOf(chunks) !== WHOLE_TEXT) faults.push(`a viewer shows "${screenOf(chunks)}"`)
  const seen = events.flatMap(({ offset }) => offset ?? [])
  const stored: string[] = entries.map(({ offset }) => offset)
  if (seen.join() !== stored.join())
    faults.push(`the viewer saw ${seen.length} events of ${stored.length}: ${seen.join()}`)
}

async function checkTranscript({ stores }: SecondHost, threadId: string, faults: string[]): Promise<void> {
  const messages = await stores.messages.loadThread(threadId)
  faults.push(...refusalsOf(messages))
  const text = messages.map((message) => (message.role === 'assistant' ? textOf(message) : '')).join('')
  if (text !== WHOLE_TEXT) faults.push(`the transcript says "${text}"`)
}

function textOf({ content }: ModelMessage): string {
  return typeof content === 'string' ? content : ''
}

/** One sandbox, and in it each command has taken effect once, or is said to be interrupted. */
async function checkSandbox(second: SecondHost, threadId: string, faults: string[]): Promise<void> {
  const { stores, routes } = second
  const ids = await sandboxesWith(second, await labelOf(second, threadId))
  if (ids.length !== 1) faults.push(`the thread has ${ids.length} sandboxes`)
  const path = encodeURIComponent('/workspace/work.txt')
  const response = await routes.handle(new Request(`http://crash/api/threads/${threadId}/files/content?path=${path}`))
  const lines = response.ok ? (await response.text()).split('\n').filter((line) => line !== '') : []
  const transcript = JSON.stringify(await stores.messages.loadThread(threadId))
  const interrupted = transcript.split('-interrupted').length - 1
  if (new Set(lines).size !== lines.length) faults.push(`commands took effect twice: ${lines.join(' ')}`)
  if (lines.length + interrupted < 2) faults.push(`commands are missing: ${lines.join(' ')}`)
}

/** A run is said to be completed only when its checkpoint is stored, or why it is not. A host that lived has no reason. */
async function checkCheckpoint(
  second: SecondHost,
  { threadId, runId, hasLived }: { threadId: string; runId: string; hasLived: boolean },
  faults: string[],
): Promise<void> {
  const checkpoints = checkpointsOf(second)
  const failure = await checkpoints.findFailure({ threadId, runId })
  if (failure !== null) {
    if (hasLived) faults.push(`the checkpoint failed: ${failure.message}`)
    return
  }
  const saved = (await checkpoints.list({ threadId })).checkpoints.filter(({ sourceRunId }) => sourceRunId === runId)
  if (saved.length !== 1) faults.push(`the run has ${saved.length} checkpoints, and no failure is noted`)
  const into = await second.provider.create({ id: `${threadId}-fresh` })
  for (const { id } of saved) await checkpoints.restore({ threadId, checkpointId: id, into })
  const { stdout } = await into.process.exec('cat work.txt')
  if (!/^(one|two)\n/.test(stdout)) faults.push(`the checkpoint holds ${JSON.stringify(stdout)}`)
  await second.provider.destroy({ id: into.id })
}

async function checkNextMessage({ routes, stores }: SecondHost, threadId: string, faults: string[]): Promise<void> {
  const runId = `${threadId}-next`
  for await (const event of eventsOf(await routes.handle(sendRequest(runId, threadId)))) void event
  const record = await endedRecord(stores, runId)
  if (record?.status !== 'completed') faults.push(`the next message is ${record?.status ?? 'refused'}`)
}

async function removeThread(second: SecondHost, threadId: string, faults: string[]): Promise<void> {
  const label = await labelOf(second, threadId)
  const url = `http://crash/api/threads/${threadId}`
  const response = await second.routes.handle(new Request(url, { method: 'DELETE' }))
  if (response.status !== 204) faults.push(`the thread could not be deleted: ${await response.text()}`)
  // A service may take a moment over it.
  for (const deadline = performance.now() + 10_000; performance.now() < deadline; await wait(100)) {
    if ((await sandboxesWith(second, label)).length === 0) return
  }
  faults.push('the sandbox outlived its thread')
}
