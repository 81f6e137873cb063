import { verifyEvents } from '@ag-ui/client'
import { createMemoryStores } from '@holdfast/core'
import type { HoldfastStores } from '@holdfast/core'
import { adoptRun, beginRun, IDEMPOTENT, withPersistence } from '@holdfast/middleware'
import type { Run, RunDriver } from '@holdfast/middleware'
import { FakeClock } from '@holdfast/testing'
import { chat, toolDefinition } from '@tanstack/ai'
import type { AnyTextAdapter, AnyTool, ModelMessage, StreamChunk } from '@tanstack/ai'
import { from, lastValueFrom, toArray } from 'rxjs'
import { describe, expect, it } from 'vitest'
import { screenOf } from '../../src/simulation/check-runs.ts'
import { isFinal } from '../../src/simulation/final-event.ts'
import { overriding } from '../../src/simulation/observed-stores.ts'
import { refusalsOf } from '../../src/simulation/strict-model.ts'

type Turn = { say?: string; calls?: string[]; fails?: boolean }

/** What the model does, turn by turn, and how such a run ends. */
const RUNS: Record<string, { turns: Turn[]; status: string }> = {
  text: { turns: [{ say: 'one two three' }], status: 'completed' },
  tools: { turns: [{ say: 'look: ', calls: ['work'] }, { calls: ['work'] }, { say: 'done' }], status: 'completed' },
  'parallel tools': { turns: [{ calls: ['work', 'work', 'work'] }, { say: 'all done' }], status: 'completed' },
  approval: { turns: [{ say: 'may I? ', calls: ['ask'] }, { say: 'thank you' }], status: 'interrupted' },
  failure: { turns: [{ calls: ['work'] }, { say: 'so far ', fails: true }], status: 'failed' },
}

const INPUT = { type: 'object' as const, properties: {} }
const work = toolDefinition({
  name: 'work',
  description: 'Works.',
  inputSchema: INPUT,
  metadata: { [IDEMPOTENT]: true },
}).server(async () => ({ done: true }))
const ask = toolDefinition({ name: 'ask', description: 'Asks.', inputSchema: INPUT, needsApproval: true }).server(
  async () => ({ done: true }),
)
const TOOLS = [work, ask] as unknown as AnyTool[]

/** Refuses a conversation as the strictest of models does. */
function strictModel(turns: readonly Turn[]): AnyTextAdapter {
  async function* chatStream(call: { messages: ModelMessage[]; runId: string; threadId: string }) {
    const refusals = refusalsOf(call.messages)
    if (refusals.length > 0) throw new Error(`The model refuses: ${refusals.join('; ')}`)
    const since = call.messages.slice(call.messages.findLastIndex((message) => message.role === 'user') + 1)
    const turn = since.filter((message) => (message.toolCalls ?? []).length > 0).length
    yield* act(turns[turn] ?? { say: 'nothing more' }, call, `${call.runId}-${turn}`)
  }
  const adapter = { kind: 'text', name: 'strict', model: 'strict-1', '~types': {}, chatStream }
  return adapter as unknown as AnyTextAdapter
}

function* act(turn: Turn, { runId, threadId }: { runId: string; threadId: string }, messageId: string) {
  const chunk = (fields: object): StreamChunk => ({ timestamp: 1, ...fields }) as StreamChunk
  yield chunk({ type: 'RUN_STARTED', runId, threadId })
  if (turn.say !== undefined) {
    yield chunk({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' })
    for (const delta of turn.say.split(/(?<= )/)) yield chunk({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })
    if (turn.fails === true) throw new Error('The model failed.')
    yield chunk({ type: 'TEXT_MESSAGE_END', messageId })
  }
  for (const [index, name] of (turn.calls ?? []).entries()) {
    const named = { toolCallId: `${messageId}-${index}`, toolCallName: name, toolName: name }
    yield chunk({ type: 'TOOL_CALL_START', ...named })
    yield chunk({ type: 'TOOL_CALL_ARGS', toolCallId: named.toolCallId, delta: '{}' })
    yield chunk({ type: 'TOOL_CALL_END', ...named })
  }
  yield chunk({ type: 'RUN_FINISHED', runId, threadId, finishReason: turn.calls === undefined ? 'stop' : 'tool_calls' })
}

const chatRequest = (runId: string): Parameters<typeof beginRun>[0]['chat'] => ({
  runId,
  threadId: 'thread-1',
  messages: [{ role: 'user', id: `${runId}-user`, content: `Do ${runId}.` }],
  forwardedProps: {},
})

function driverOf(stores: HoldfastStores, turns: readonly Turn[]): RunDriver {
  const drive = (run: Run): AsyncIterable<StreamChunk> =>
    chat({
      ...run.chat,
      adapter: strictModel(turns),
      tools: TOOLS,
      middleware: [withPersistence(stores)],
      debug: false,
    } as unknown as Parameters<typeof chat>[0]) as AsyncIterable<StreamChunk>
  return { tools: TOOLS, drive }
}

type Question = Parameters<HoldfastStores['interrupts']['create']>[0]
type Write = { chunk: StreamChunk } | { transcript: ModelMessage[] } | { question: Question }

/** A run that nobody disturbs, with what it stored, in order. */
async function record(turns: readonly Turn[]): Promise<{ writes: Write[]; end: End }> {
  const clock = new FakeClock()
  const base = createMemoryStores({ clock })
  const writes: Write[] = []
  const stores: HoldfastStores = {
    ...base,
    messages: overriding(base.messages, {
      async saveThread(threadId, transcript, fence) {
        await base.messages.saveThread(threadId, transcript, fence)
        writes.push({ transcript: structuredClone(transcript) })
      },
    }),
    interrupts: overriding(base.interrupts, {
      async create(question) {
        await base.interrupts.create(question)
        writes.push({ question })
      },
    }),
    eventLog: overriding(base.eventLog, {
      open(input) {
        const log = base.eventLog.open(input)
        const append: typeof log.append = async (chunks) => {
          const offsets = await log.append(chunks)
          writes.push(...structuredClone(chunks).map((chunk) => ({ chunk })))
          return offsets
        }
        return overriding(log, { append })
      },
    }),
  }
  const run = await beginRun({ stores, clock, chat: chatRequest('run-1') as never })
  await run.drive(driverOf(stores, turns).drive(run, { forwardedProps: {} }))
  return { writes, end: await endOf(base) }
}

interface End {
  status: string | undefined
  screen: string
  transcript: [role: string, content: unknown][]
  asked: number
}

/** What a person finds when the run is over. */
async function endOf(stores: HoldfastStores): Promise<End> {
  const chunks = await chunksOf(stores)
  const messages = await stores.messages.loadThread('thread-1')
  return {
    status: (await stores.runs.get('run-1'))?.status,
    screen: screenOf(chunks),
    transcript: messages.map(({ role, content }) => [role, content]),
    asked: (await stores.interrupts.listPending('thread-1')).length,
  }
}

async function chunksOf(stores: HoldfastStores): Promise<StreamChunk[]> {
  return (await stores.eventLog.open({ runId: 'run-1' }).snapshot()).map(({ chunk }) => chunk)
}

/** The stores as they were when the log had this many events and the host died. */
async function cutAt(writes: readonly Write[], count: number): Promise<{ stores: HoldfastStores; clock: FakeClock }> {
  const clock = new FakeClock()
  const stores = createMemoryStores({ clock })
  await stores.threads.ensure({ threadId: 'thread-1', ownerId: 'local' })
  const { epoch } = await stores.drivers.claim({ runId: 'run-1', threadId: 'thread-1', owner: 'dead', ttlMs: 1 })
  const log = stores.eventLog.open({ runId: 'run-1', epoch })
  let events = 0
  for (const write of writes) {
    if ('chunk' in write && events === count) break
    if ('transcript' in write) await stores.messages.saveThread('thread-1', write.transcript)
    else if ('question' in write) await stores.interrupts.create(write.question)
    else events += (await log.append([write.chunk])).length
  }
  await clock.advance(2)
  return { stores, clock }
}

/**
 * What AG-UI's own verifier says. Its state machine knows one finish a run and nothing before the start; the engine tells
 * the end of each turn too, and a run is accepted before it starts. Both are documented, and left out here.
 */
async function verify(chunks: readonly StreamChunk[]): Promise<void> {
  const start = chunks.find((chunk) => chunk.type === 'RUN_STARTED')
  const rest = chunks.filter(
    (chunk) => chunk.type !== 'RUN_STARTED' && !(chunk.type === 'RUN_FINISHED' && !isFinal(chunk)),
  )
  const events = start === undefined ? rest.filter(isFinal) : [start, ...rest]
  await lastValueFrom(from(events as never[]).pipe(verifyEvents(false), toArray()))
}

async function ended(stores: HoldfastStores): Promise<void> {
  for (let turn = 0; turn < 2_000; turn += 1) {
    if ((await stores.runs.get('run-1'))?.status !== 'running') return
    await new Promise((resolve) => setImmediate(resolve))
  }
}

describe('a log that is cut at any event', () => {
  for (const [name, { turns, status }] of Object.entries(RUNS)) {
    it(`of a run with ${name} is completed to the same end, and a strict model takes the next turn`, async () => {
      const { writes, end } = await record(turns)
      expect(end.status).toBe(status)
      const length = writes.filter((write) => 'chunk' in write).length
      for (let count = 0; count <= length; count += 1) {
        const at = `cut after ${count} of ${length} events`
        const { stores, clock } = await cutAt(writes, count)
        await adoptRun({ stores, clock, runId: 'run-1', driver: driverOf(stores, turns) })
        await ended(stores)
        expect(await endOf(stores), at).toEqual(end)
        const chunks = await chunksOf(stores)
        expect(chunks.filter(isFinal), at).toHaveLength(1)
        await expect(verify(chunks), at).resolves.toBeUndefined()
        const [pending] = await stores.interrupts.listPending('thread-1')
        const answer = { interruptId: String(pending?.interruptId), status: 'resolved', payload: { approved: true } }
        const chat = {
          ...chatRequest('run-2'),
          ...(pending === undefined ? {} : { parentRunId: 'run-1', messages: [], resume: [answer] }),
        }
        const next = await beginRun({ stores, clock, chat: chat as never })
        await next.drive(driverOf(stores, [{ say: 'next' }]).drive(next, { forwardedProps: {} }))
        expect((await stores.runs.get('run-2'))?.status, at).toBe('completed')
      }
    })
  }
})
