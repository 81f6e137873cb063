import type { StreamChunk } from '@tanstack/ai/client'

export interface OutputSegment {
  from: 'stdout' | 'stderr'
  text: string
}

export interface FileChange {
  change: 'create' | 'change' | 'delete'
  diff?: string
}

export type RunEnd = 'done' | 'failed' | 'cancelled' | 'waiting'

/** What the stream of the current run has told beside its messages. */
export interface RunActivity {
  /** Joined, and not a single event yet. */
  isCatchingUp: boolean
  /** What the sandbox is doing until it is ready. */
  sandbox: { phase: string; detail?: string } | null
  /** Live output by tool call. */
  outputs: Readonly<Record<string, readonly OutputSegment[]>>
  /** Files that changed in the latest run, and in those since the page was opened. */
  changes: Readonly<Record<string, FileChange>>
  /** How the run ended, once its last event is here. An agent's turns each have an end of their own. */
  end: RunEnd | null
  /** Why it failed. */
  reason: string | null
  /** Counts the events after which the workspace should be listed again. */
  fileVersion: number
}

export type RunActivityAction =
  | { type: 'begin' }
  | { type: 'replay' }
  | { type: 'chunk'; chunk: StreamChunk }
  /** Of a run that ended before the page was opened: what it changed is still of interest. */
  | { type: 'past'; chunk: StreamChunk }

export const NO_ACTIVITY: RunActivity = {
  isCatchingUp: false,
  sandbox: null,
  outputs: {},
  changes: {},
  end: null,
  reason: null,
  fileVersion: 0,
}

/** Most live output that is kept for one call; the tool's own result is what stays. */
const MAX_LIVE_CHARS = 100_000

export function runActivity(state: RunActivity, action: RunActivityAction): RunActivity {
  if (action.type === 'chunk') return withChunk(state.isCatchingUp ? { ...state, isCatchingUp: false } : state, action)
  if (action.type === 'past') return withPast(state, action.chunk)
  // A replay gives every event of the run again, so what came from it before must go.
  const isCatchingUp = action.type === 'replay'
  return { ...state, isCatchingUp, sandbox: null, outputs: {}, end: null, reason: null }
}

function withPast(state: RunActivity, chunk: StreamChunk): RunActivity {
  if (chunk.type !== 'CUSTOM' || !chunk.name.startsWith('sandbox.file')) return state
  const { changes } = customEvent(state, chunk.name, asObject(chunk.value))
  return { ...state, changes }
}

function withChunk(state: RunActivity, { chunk }: { chunk: StreamChunk }): RunActivity {
  switch (chunk.type) {
    case 'CUSTOM':
      return customEvent(state, chunk.name, asObject(chunk.value))
    case 'RUN_FINISHED':
      return { ...state, end: chunk.outcome?.type === 'interrupt' ? 'waiting' : 'done' }
    case 'RUN_ERROR':
      return chunk.code === 'RUN_CANCELLED'
        ? { ...state, end: 'cancelled' }
        : { ...state, end: 'failed', reason: chunk.message }
    case 'TEXT_MESSAGE_START':
    case 'TOOL_CALL_START':
      // The model works, so the sandbox is there, whatever was or was not said about it.
      return { ...state, end: null, sandbox: { phase: 'ready' } }
    default:
      return state.end === null ? state : { ...state, end: null }
  }
}

function customEvent(state: RunActivity, name: string, value: Record<string, unknown>): RunActivity {
  switch (name) {
    case 'sandbox.status':
      return { ...state, sandbox: { phase: textOf(value['phase']), ...optionalText('detail', value['detail']) } }
    case 'sandbox.created':
    case 'sandbox.resumed':
      return { ...state, sandbox: { phase: 'ready' }, fileVersion: state.fileVersion + 1 }
    case 'process.stdout':
    case 'process.stderr':
      return withOutput(state, textOf(value['processId']), {
        from: name === 'process.stdout' ? 'stdout' : 'stderr',
        text: textOf(value['chunk']),
      })
    case 'sandbox.file':
    case 'sandbox.file.diff':
      return withChange(state, name, value)
    default:
      return state
  }
}

function withOutput(state: RunActivity, callId: string, segment: OutputSegment): RunActivity {
  const known = state.outputs[callId] ?? []
  const last = known.at(-1)
  const segments =
    last?.from === segment.from
      ? [...known.slice(0, -1), { from: last.from, text: (last.text + segment.text).slice(-MAX_LIVE_CHARS) }]
      : [...known, segment].slice(-200)
  return { ...state, outputs: { ...state.outputs, [callId]: segments } }
}

function withChange(state: RunActivity, name: string, value: Record<string, unknown>): RunActivity {
  const path = workspacePath(textOf(value['path']))
  const known = state.changes[path]
  const change = isChange(value['type']) ? value['type'] : (known?.change ?? 'change')
  const diff = textOf(value['diff']) || (name === 'sandbox.file.diff' ? '' : (known?.diff ?? ''))
  const changes = { ...state.changes, [path]: { change, ...(diff === '' ? {} : { diff }) } }
  return { ...state, changes, fileVersion: state.fileVersion + (name === 'sandbox.file' ? 1 : 0) }
}

/** Paths are shown as the listing has them: relative to the workspace. */
export function workspacePath(path: string): string {
  return path.replace(/^\/workspace\//, '').replace(/^\.\//, '')
}

function isChange(value: unknown): value is FileChange['change'] {
  return value === 'create' || value === 'change' || value === 'delete'
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function optionalText(key: string, value: unknown): Record<string, string> {
  return typeof value === 'string' && value !== '' ? { [key]: value } : {}
}
