import { chat, maxIterations } from '@tanstack/ai'
import type { StreamChunk } from '@tanstack/ai'
import { isJournaled } from '../agent/journaled-adapter.ts'
import { withPersistence } from '../persistence/with-persistence.ts'
import type { Run } from '../runs/run.ts'
import type { RunDriver } from '../runs/run-driver.ts'
import { withSandbox } from '../session/with-sandbox.ts'
import type { ChatRoutesOptions } from './chat-routes-options.ts'

type DriverOption = 'stores' | 'sandbox' | 'model' | 'tools' | 'systemPrompts' | 'maxTurns' | 'checkpoints'

/** The engine's own limit of five ends ordinary work in the middle. */
const DEFAULT_MAX_TURNS = 100

/** Makes the events of a run with the app's model and tools. For `attachRun`, `reapRuns` and the routes alike. */
export function createChatDriver(options: Pick<ChatRoutesOptions, DriverOption>): RunDriver {
  const { tools = [] } = options
  return {
    tools,
    drive: (run, input) => streamOf(options, run, input),
    isJournaled: async (run) => isJournaled(await options.model(run)),
  }
}

/** The model is chosen inside the stream, so that its failure ends the run like any other. */
async function* streamOf(
  options: Parameters<typeof createChatDriver>[0],
  run: Run,
  input: { forwardedProps: Record<string, unknown>; request?: Request },
): AsyncGenerator<StreamChunk> {
  const { stores, sandbox, tools = [], systemPrompts = [], maxTurns = DEFAULT_MAX_TURNS, checkpoints } = options
  const { threadId, runId } = run
  const adapter = await options.model({ threadId, runId, ...input })
  yield* chat({
    ...run.chat,
    adapter,
    tools: [...tools],
    systemPrompts: [...systemPrompts],
    agentLoopStrategy: maxIterations(maxTurns),
    middleware: [
      withPersistence(stores),
      withSandbox(sandbox, { run, ...(checkpoints === undefined ? {} : { checkpoints }) }),
    ],
  }) as AsyncIterable<StreamChunk>
}
