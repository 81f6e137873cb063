import type { HoldfastStores, RunRecord } from '@holdfast/core'
import { RUN_CANCELLED_CODE } from '@holdfast/middleware'
import { StreamProcessor } from '@tanstack/ai'
import type { ModelMessage, StreamChunk } from '@tanstack/ai'
import { isFinal, isPause } from './final-event.ts'
import type { RunScript } from './run-script.ts'
import type { SandboxService } from './sandbox-service.ts'
import type { SimViewer } from './sim-viewer.ts'
import type { SimWorld } from './sim-world.ts'
import { refusalsOf } from './strict-model.ts'

export interface CheckInput {
  world: SimWorld
  stores: HoldfastStores
  service: SandboxService
  viewers: readonly SimViewer[]
  threadIds: readonly string[]
  scripts: ReadonlyMap<string, RunScript>
}

/** What must hold once every run has come to its end. */
export async function checkRuns(input: CheckInput): Promise<void> {
  const { stores, threadIds } = input
  for (const threadId of threadIds) {
    const messages = await stores.messages.loadThread(threadId)
    const runs = await stores.runs.listByThread?.(threadId)
    for (const run of runs ?? []) await checkRun(input, run, messages)
    const refusals = refusalsOf(messages)
    if (refusals.length > 0) input.world.note(`${threadId} ${JSON.stringify(messages)}`)
    const pending = await stores.interrupts.listPending(threadId)
    if (pending.length > 0) input.world.fault(`${threadId} still waits for ${pending.length} answers`)
    for (const refusal of refusals) input.world.fault(`the transcript of ${threadId}: ${refusal}`)
  }
  await checkViewers(input)
  await checkSandboxes(input)
}

async function checkRun(
  { world, stores, scripts }: CheckInput,
  run: RunRecord,
  messages: readonly ModelMessage[],
): Promise<void> {
  const { runId, status } = run
  if (status === 'running' || status === 'interrupted') {
    world.fault(`run ${runId} ${status === 'running' ? 'never ended' : 'still waits for a person'}`)
    return
  }
  const chunks = (await stores.eventLog.open({ runId }).snapshot()).map((entry) => entry.chunk)
  const info = await stores.eventLog.find(runId)
  if (info?.isClosed !== true) world.fault(`the log of ${runId} (${status}) is open`)
  const finals = chunks.filter(isFinal)
  // A send that failed before its first event has a closed log and nothing in it.
  if (chunks.length > 0 && (finals.length !== 1 || !isFinal(chunks.at(-1)))) {
    world.fault(`the log of ${runId} (${status}) has ${finals.length} ends, last ${String(chunks.at(-1)?.type)}`)
  }
  checkText(world, run, chunks, messages)
  // How a wait ended is said by the run that goes on, or by nobody.
  if (isPause(chunks.at(-1))) return
  checkLastEvent(world, run, chunks.at(-1))
  if (status === 'completed') checkWholeText(world, scripts.get(runId), chunks)
}

function checkLastEvent(world: SimWorld, { runId, status }: RunRecord, last: StreamChunk | undefined): void {
  if (last === undefined) return
  const expected = status === 'completed' ? 'RUN_FINISHED' : 'RUN_ERROR'
  if (last.type !== expected) world.fault(`run ${runId} is ${status}, and its log ends with ${last.type}`)
  const isCancelled = Reflect.get(last, 'code') === RUN_CANCELLED_CODE
  if (isCancelled !== (status === 'aborted')) {
    world.fault(`run ${runId} is ${status}, and its log says that it was ${isCancelled ? '' : 'not '}cancelled`)
  }
}

/** A run is not complete before its model has said its last word. */
function checkWholeText(world: SimWorld, script: RunScript | undefined, chunks: readonly StreamChunk[]): void {
  const shown = screenOf(chunks)
  for (const action of script?.turns.at(-1) ?? []) {
    if (action.kind !== 'say' || shown.includes(`[${action.text} try `)) continue
    world.fault(`run ${script?.runId} completed without "${action.text}"`)
  }
}

/** What a viewer shows is what is stored, and each word of it stands there once. */
function checkText(
  world: SimWorld,
  { runId, status }: RunRecord,
  chunks: readonly StreamChunk[],
  messages: readonly ModelMessage[],
): void {
  const foreign = messages.filter((message) => writerOf(message) !== runId).flatMap(({ id }) => id ?? [])
  const shown = screenOf(chunks, foreign)
  const stored = messages
    .filter((message) => message.role === 'assistant' && writerOf(message) === runId)
    .map((message) => (typeof message.content === 'string' ? message.content : ''))
    .join('')
  if (shown !== stored) world.fault(`run ${runId} (${status}) shows "${shown}" and stores "${stored}"`)
  const parts = shown.match(/\[[^\]]*\]/g) ?? []
  const steps = parts.map((part) => part.replace(/ try \d+\]$/, ']'))
  if (new Set(steps).size !== steps.length) world.fault(`run ${runId} shows a sentence twice: "${shown}"`)
}

function writerOf(message: ModelMessage): unknown {
  const mark: unknown = message.metadata?.['holdfast']
  return typeof mark === 'object' && mark !== null ? Reflect.get(mark, 'runId') : undefined
}

/** The words on the screen of a viewer who saw all of these events. */
export function screenOf(chunks: readonly StreamChunk[], foreignIds: readonly string[] = []): string {
  const processor = new StreamProcessor()
  for (const chunk of chunks) processor.processChunk(chunk)
  const shown = processor.getMessages().filter((message) => message.role === 'assistant')
  const snapshots = chunks.findLast((chunk) => chunk.type === 'MESSAGES_SNAPSHOT')
  const earlier = new Set([...earlierIds(snapshots), ...foreignIds])
  return shown
    .filter((message) => !earlier.has(message.id))
    .flatMap((message) => message.parts.map((part) => (part.type === 'text' ? part.content : '')))
    .join('')
}

/** Messages of earlier runs that a snapshot shows too. */
function earlierIds(snapshot: StreamChunk | undefined): string[] {
  const messages: unknown = snapshot === undefined ? [] : Reflect.get(snapshot, 'messages')
  if (!Array.isArray(messages)) return []
  const wire = messages as { id: string; role: string }[]
  const lastUser = wire.findLastIndex((message) => message.role === 'user')
  return wire.slice(0, lastUser + 1).map((message) => message.id)
}

async function checkViewers({ world, stores, viewers }: CheckInput): Promise<void> {
  for (const viewer of viewers) {
    const log = await stores.eventLog.open({ runId: viewer.runId }).snapshot()
    const start = viewer.startOffset === '-1' ? 0 : log.findIndex(({ offset }) => offset === viewer.startOffset) + 1
    const expected = log.slice(start)
    const seen = viewer.seen
    const wrong = seen.findIndex(({ offset, chunk }, index) => {
      const entry = expected[index]
      return entry?.offset !== offset || gist(entry.chunk) !== gist(chunk)
    })
    if (wrong >= 0) {
      world.fault(`${viewer.name} saw ${String(seen[wrong]?.offset)} as its event ${wrong} of ${viewer.runId}`)
    }
    if (!viewer.hasLeft && seen.length !== expected.length) {
      world.fault(`${viewer.name} saw ${seen.length} of ${expected.length} events of ${viewer.runId}`)
    }
  }
}

/** What of an event must arrive as it was stored; the wire leaves out what AG-UI does not know. */
function gist(chunk: StreamChunk): string {
  const fields = ['type', 'messageId', 'toolCallId', 'delta', 'name', 'code', 'content']
  return JSON.stringify(fields.map((field) => Reflect.get(chunk, field) as unknown))
}

/** A sandbox that exists has a row, and a row that says `ready` has its sandbox. */
async function checkSandboxes({ world, stores, service }: CheckInput): Promise<void> {
  const { records = [] } = (await stores.instances.list?.({ limit: 1_000 })) ?? {}
  const known = new Set(records.map((record) => record.providerSandboxId))
  for (const id of service.sandboxes.keys()) {
    if (!known.has(id)) world.fault(`sandbox ${id.slice(0, 6)} has no row`)
  }
  for (const record of records) {
    const isReady = (record.state ?? 'ready') === 'ready'
    if (isReady && !service.sandboxes.has(record.providerSandboxId)) {
      world.fault(`the row of ${record.key.slice(0, 6)} says ready, and its sandbox is gone`)
    }
  }
}
