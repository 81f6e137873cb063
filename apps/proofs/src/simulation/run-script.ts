import { EventType } from '@tanstack/ai'
import type { AnyTextAdapter, ModelMessage, StreamChunk } from '@tanstack/ai'
import type { SeededRandom } from './seeded-random.ts'
import { GUARDED } from './sim-approvals.ts'
import type { PauseAnswer } from './sim-approvals.ts'
import type { SimHost } from './sim-host.ts'
import type { SimWorld } from './sim-world.ts'

export type ScriptAction =
  | { kind: 'say'; text: string }
  | { kind: 'call'; tool: 'work' | 'peek'; step: string }
  /** A command that waits for a person's yes. */
  | { kind: 'ask'; step: string }
  /** Goes on after this long. */
  | { kind: 'think'; ms: number }
  /** Never goes on. */
  | { kind: 'hang' }
  | { kind: 'fail' }

/** What the model does in a run, turn by turn. The last turn calls no tool. */
export interface RunScript {
  readonly runId: string
  readonly threadId: string
  readonly turns: readonly (readonly ScriptAction[])[]
  /** The run answers pauses, and goes on with the script of the run that waited. */
  readonly resume?: readonly PauseAnswer[]
}

export function randomScript(random: SeededRandom, runId: string, threadId: string): RunScript {
  const toolTurns = random.whole(0, 2)
  const turns: ScriptAction[][] = []
  for (let turn = 0; turn < toolTurns; turn += 1) turns.push(toolTurn(random, `${runId}.${turn}`))
  turns.push(lastTurn(random, `${runId}.${toolTurns}`))
  return { runId, threadId, turns }
}

function toolTurn(random: SeededRandom, name: string): ScriptAction[] {
  const actions: ScriptAction[] = []
  if (random.chance(0.4)) actions.push({ kind: 'say', text: `${name} says` })
  const calls = random.whole(1, 3)
  for (let call = 0; call < calls; call += 1) {
    const step = `${name}.${call}`
    if (random.chance(0.2)) actions.push({ kind: 'ask', step })
    else actions.push({ kind: 'call', tool: random.chance(0.7) ? 'work' : 'peek', step })
  }
  return actions
}

function lastTurn(random: SeededRandom, name: string): ScriptAction[] {
  const actions: ScriptAction[] = []
  const parts = random.whole(1, 3)
  for (let part = 0; part < parts; part += 1) {
    if (random.chance(0.25)) actions.push({ kind: 'think', ms: random.pick([50, 5_000, 40_000]) })
    actions.push({ kind: 'say', text: `${name} part ${part}` })
  }
  const fate = random.next()
  if (fate < 0.1) actions.push({ kind: 'fail' })
  else if (fate < 0.2) actions.push({ kind: 'hang' })
  return actions
}

interface ModelCall {
  messages: readonly ModelMessage[]
  runId?: string
  threadId?: string
  request?: { signal?: AbortSignal }
}

/**
 * Acts out a script from where the conversation stands: a model that is asked again after a takeover says its turn again,
 * in other words, as real ones do.
 */
export function scriptModel(world: SimWorld, host: SimHost, script: RunScript): AnyTextAdapter {
  async function* chatStream(call: ModelCall): AsyncGenerator<StreamChunk> {
    const turn = turnOf(call.messages)
    const attempt = attemptOf(world, `${script.runId}.${turn}`)
    world.note(`${host.name} model turn ${script.runId}.${turn} attempt ${attempt}`)
    yield* act(world, host, script, turn, attempt, call)
  }
  const adapter = {
    kind: 'text',
    name: 'script',
    model: 'script-1',
    '~types': {},
    chatStream,
    structuredOutput: () => Promise.reject(new Error('The script has no structured output.')),
  }
  return adapter as unknown as AnyTextAdapter
}

const attempts = new WeakMap<SimWorld, Map<string, number>>()

function attemptOf(world: SimWorld, turn: string): number {
  const counts = attempts.get(world) ?? new Map<string, number>()
  attempts.set(world, counts)
  const count = (counts.get(turn) ?? 0) + 1
  counts.set(turn, count)
  return count
}

/** The first turn without an answer: how many times tools were called since the person's last message. */
function turnOf(messages: readonly ModelMessage[]): number {
  const since = messages.slice(messages.findLastIndex((message) => message.role === 'user') + 1)
  return since.filter((message) => (message.toolCalls ?? []).length > 0).length
}

async function* act(
  world: SimWorld,
  host: SimHost,
  script: RunScript,
  turn: number,
  attempt: number,
  call: ModelCall,
): AsyncGenerator<StreamChunk> {
  const ids = { runId: call.runId ?? script.runId, threadId: call.threadId ?? script.threadId }
  const messageId = `${script.runId}-${turn}-${attempt}`
  const chunk = (fields: object): StreamChunk => ({ timestamp: 1, ...fields }) as StreamChunk
  yield chunk({ type: EventType.RUN_STARTED, ...ids })
  let said = 0
  let calls = 0
  for (const action of script.turns[turn] ?? []) {
    await world.send(host, 'model', 'outside', () => Promise.resolve())
    if (action.kind === 'fail') throw new Error('The model failed.')
    if (action.kind === 'hang' || action.kind === 'think') {
      await pause(host, action.kind === 'hang' ? undefined : action.ms, call.request?.signal)
    }
    if (action.kind === 'say') {
      if (said === 0) yield chunk({ type: EventType.TEXT_MESSAGE_START, messageId, role: 'assistant' })
      said += 1
      yield chunk({ type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta: `[${action.text} try ${attempt}]` })
    }
    if (action.kind === 'call' || action.kind === 'ask') {
      const toolCallId = `${messageId}-${(calls += 1)}`
      const tool = action.kind === 'ask' ? 'bash' : action.tool
      const named = { toolCallId, toolCallName: tool, toolName: tool }
      const args = JSON.stringify(
        action.kind === 'ask' ? { command: `${GUARDED} ${action.step}` } : { step: action.step },
      )
      yield chunk({ type: EventType.TOOL_CALL_START, ...named })
      yield chunk({ type: EventType.TOOL_CALL_ARGS, toolCallId, delta: args, args })
      yield chunk({ type: EventType.TOOL_CALL_END, ...named })
    }
  }
  if (said > 0) yield chunk({ type: EventType.TEXT_MESSAGE_END, messageId })
  yield chunk({ type: EventType.RUN_FINISHED, ...ids, finishReason: calls > 0 ? 'tool_calls' : 'stop' })
}

/** Rejects when the run is stopped, as a model's connection does. */
function pause(host: SimHost, ms: number | undefined, signal: AbortSignal | undefined): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const cancelTimer = ms === undefined ? () => undefined : host.clock.schedule(ms, resolve)
    const onAbort = (): void => {
      cancelTimer()
      reject(new DOMException('The model call was aborted.', 'AbortError'))
    }
    if (signal?.aborted === true) onAbort()
    else signal?.addEventListener('abort', onAbort, { once: true })
  })
}
