import type { StreamChunk } from '@tanstack/ai'
import type { AgentChunks } from './agent-chunks.ts'
import { parseAgUi } from './parse-ag-ui.ts'
import { parseClaudeCode } from './parse-claude-code.ts'
import { parseCodex } from './parse-codex.ts'
import { parseText } from './parse-text.ts'

/** What an agent used, as the engine counts it. */
export interface AgentUsage {
  promptTokens: number
  completionTokens: number
  totalTokens: number
}

/** Turns the lines of one run of a command into events. The same lines must give the same events. */
export interface AgentParser {
  line: (text: string) => StreamChunk[]
  /** What is still to be said once the command has ended. What is open is ended by itself. */
  end?: () => StreamChunk[]
  /** The agent's own word that it failed; it beats an exit code of 0. */
  failure?: () => { message: string; code?: string } | undefined
  usage?: () => AgentUsage | undefined
}

/** Makes the parser of one run. */
export type ParseAgent = (chunks: AgentChunks) => AgentParser

/** Formats that are known. `claude-code`: `--output-format stream-json`. `codex`: `exec --json`. */
export type AgentFormat = 'text' | 'ag-ui' | 'claude-code' | 'codex'

export const AGENT_FORMATS: Readonly<Record<AgentFormat, ParseAgent>> = {
  text: parseText,
  'ag-ui': parseAgUi,
  'claude-code': parseClaudeCode,
  codex: parseCodex,
}
