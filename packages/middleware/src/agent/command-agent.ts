import { InvalidInputError, isHoldfastError, systemClock } from '@holdfast/core'
import type { Clock, SandboxHandle } from '@holdfast/core'
import { readJournal, readStderrTail } from '@holdfast/core/provider-kit'
import type { JournalExit, JournalReadMode } from '@holdfast/core/provider-kit'
import { EventType } from '@tanstack/ai'
import type { AnyTextAdapter, ModelMessage, StreamChunk, TextOptions } from '@tanstack/ai'
import { PersistenceCapability } from '../persistence/persistence-capabilities.ts'
import { findSession } from '../runs/session-registry.ts'
import { runErrorChunk } from '../runs/terminal-chunk.ts'
import { SandboxCapability } from '../session/sandbox-capabilities.ts'
import { AgentChunks } from './agent-chunks.ts'
import { ensureJournal } from './agent-journal.ts'
import { AGENT_FORMATS } from './agent-parser.ts'
import type { AgentFormat, AgentParser, ParseAgent } from './agent-parser.ts'
import { AgentProcess } from './agent-process.ts'
import { lastRequest } from './agent-prompt.ts'
import { markJournaled } from './journaled-adapter.ts'
import { keepAwake } from './keep-awake.ts'

/** The command-line agent, and how it is talked to. */
export interface CommandAgentOptions {
  /** Run by `sh` in the workspace. Holds no secret: every process of the sandbox can see it. */
  command: string
  /** What it prints: a known format, or a parser of your own. */
  parse: AgentFormat | ParseAgent
  /** How it gets what the person asked for: on standard input (default), or in the file `$HOLDFAST_PROMPT_FILE`. */
  prompt?: 'stdin' | 'file'
  /** What it is asked. Default: the text of the messages since the last answer. */
  toPrompt?: (messages: readonly ModelMessage[]) => string
  /** Shown as the model's name. Default `command-agent`. */
  name?: string
  /** Default: the workspace root. */
  cwd?: string
  /** The way to hand it credentials. */
  env?: Record<string, string>
  /** Where journals are kept in the sandbox. Default `.holdfast/journals`. */
  journalDir?: string
  /** How the journal is read. Default `auto`. */
  read?: JournalReadMode
  /** How long it may print nothing at first. Default 10 s; 0 for no limit. */
  firstByteTimeoutMs?: number
  clock?: Clock
}

/**
 * A model that is a command-line agent in the run's sandbox. It goes on when its host dies, and a successor replays it
 * from its journal. Needs `withPersistence` and `withSandbox`, and a run id; it answers once in a run. An exit code
 * other than 0 ends the run with `AGENT_FAILED` and the end of what the command printed as errors.
 */
export function commandAgent(options: CommandAgentOptions): AnyTextAdapter {
  if (typeof options.command !== 'string' || options.command.trim() === '') {
    throw new InvalidInputError('INVALID_ARGUMENT', 'command must be a non-empty string.')
  }
  const parse = typeof options.parse === 'function' ? options.parse : AGENT_FORMATS[options.parse]
  if (parse === undefined)
    throw new InvalidInputError('INVALID_ARGUMENT', 'parse must be a known format or a function.')
  /** The engine calls again for each turn of a loop; a command has one turn. */
  const asked = new WeakSet<object>()
  return markJournaled({
    kind: 'text' as const,
    name: 'command-agent',
    model: options.name ?? 'command-agent',
    requires: [SandboxCapability, PersistenceCapability],
    '~types': {} as AnyTextAdapter['~types'],
    chatStream: (call: TextOptions) => runAgent(options, parse, call, asked),
    structuredOutput: () =>
      Promise.reject(new InvalidInputError('INVALID_ARGUMENT', 'A command-line agent has no structured output.')),
  })
}

async function* runAgent(
  options: CommandAgentOptions,
  parse: ParseAgent,
  call: TextOptions,
  asked: WeakSet<object>,
): AsyncGenerator<StreamChunk, void> {
  const { runId, threadId, capabilities } = call
  if (capabilities === undefined || runId === undefined) {
    throw new InvalidInputError('INVALID_ARGUMENT', 'commandAgent needs a run id, and middleware of the same chat.')
  }
  if (asked.has(capabilities)) {
    throw new InvalidInputError('INVALID_ARGUMENT', 'A command-line agent answers once in a run.')
  }
  asked.add(capabilities)
  const { clock = systemClock } = options
  const chunks = new AgentChunks({ runId, now: () => clock.now() })
  yield chunks.chunk({ type: EventType.RUN_STARTED, runId, threadId })
  const handle = SandboxCapability[0](capabilities)
  const stores = PersistenceCapability[0](capabilities)
  const signal = signalOf(call) ?? findSession(stores, runId)?.controller.signal
  const stopRefreshing = keepAwake(handle, clock)
  const process = new AgentProcess({ handle, stores, runId, dir: options.journalDir })
  try {
    signal?.throwIfAborted()
    const { nonce } = await ensureJournal(stores, startInput(options, handle, runId, call.messages), threadId)
    const parser = parse(chunks)
    for await (const item of readJournal({ ...readInput(options, handle, runId), nonce, ...(signal && { signal }) })) {
      if (item.type === 'line') yield* parser.line(item.text)
      else {
        process.markOver()
        yield* endChunks(chunks, parser, item, () => errorTail(options, handle, runId), { runId, threadId })
      }
    }
  } catch (error) {
    // The end of the run tells why it was stopped.
    if (signal?.aborted !== true) throw error
  } finally {
    stopRefreshing()
    await process.letGo(signal)
  }
}

function startInput(
  options: CommandAgentOptions,
  handle: SandboxHandle,
  runId: string,
  messages: readonly ModelMessage[],
): Parameters<typeof ensureJournal>[1] {
  const { command, cwd, env, journalDir, prompt = 'stdin', toPrompt = lastRequest } = options
  return {
    handle,
    runId,
    command,
    prompt: { text: toPrompt(messages), via: prompt },
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env }),
    ...(journalDir === undefined ? {} : { dir: journalDir }),
  }
}

function readInput(
  options: CommandAgentOptions,
  handle: SandboxHandle,
  runId: string,
): Omit<Parameters<typeof readJournal>[0], 'nonce'> {
  const { journalDir, read, firstByteTimeoutMs, clock } = options
  return {
    handle,
    runId,
    ...(journalDir === undefined ? {} : { dir: journalDir }),
    ...(read === undefined ? {} : { mode: read }),
    ...(firstByteTimeoutMs === undefined ? {} : { firstByteTimeoutMs }),
    ...(clock === undefined ? {} : { clock }),
  }
}

async function* endChunks(
  chunks: AgentChunks,
  parser: AgentParser,
  { exitCode }: JournalExit,
  readErrors: () => Promise<string>,
  ids: { runId: string; threadId: string | undefined },
): AsyncGenerator<StreamChunk, void> {
  yield* parser.end?.() ?? []
  yield* chunks.endAll()
  const failure = parser.failure?.()
  if (exitCode === 0 && failure === undefined) {
    const usage = parser.usage?.()
    yield chunks.chunk({
      type: EventType.RUN_FINISHED,
      ...ids,
      finishReason: 'stop',
      ...(usage === undefined ? {} : { usage }),
    })
    return
  }
  const errors = exitCode === 0 ? '' : (await readErrors()).trim()
  const said = failure?.message ?? `The agent ended with exit code ${exitCode}.`
  const message = errors === '' ? said : `${said}\n${errors}`
  yield runErrorChunk({ message, code: failure?.code ?? 'AGENT_FAILED', timestamp: chunks.now() })
}

/** Errors that cannot be read must not hide that the agent failed. */
async function errorTail(options: CommandAgentOptions, handle: SandboxHandle, runId: string): Promise<string> {
  const { journalDir } = options
  try {
    return await readStderrTail({ handle, runId, ...(journalDir === undefined ? {} : { dir: journalDir }) })
  } catch (error) {
    if (isHoldfastError(error)) return ''
    throw error
  }
}

function signalOf({ request, abortController }: TextOptions): AbortSignal | undefined {
  return abortController?.signal ?? request?.signal ?? undefined
}
