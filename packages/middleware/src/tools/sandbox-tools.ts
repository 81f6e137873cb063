import { InvalidInputError } from '@holdfast/core'
import type { Tool } from '@tanstack/ai'
import { IDEMPOTENT } from '../persistence/resume-point.ts'
import { compareCheckpointsTool } from '../checkpoints/tools/compare-checkpoints-tool.ts'
import { listCheckpointsTool } from '../checkpoints/tools/list-checkpoints-tool.ts'
import { publishArtifactTool } from '../checkpoints/tools/publish-artifact-tool.ts'
import { saveCheckpointTool } from '../checkpoints/tools/save-checkpoint-tool.ts'
import { bashTool } from './bash-tool.ts'
import { editFileTool } from './edit-file-tool.ts'
import { listFilesTool } from './list-files-tool.ts'
import { openPortTool } from './open-port-tool.ts'
import { readFileTool } from './read-file-tool.ts'
import type { SandboxTool, SandboxToolLimits } from './sandbox-tool.ts'
import { searchFilesTool } from './search-files-tool.ts'
import { writeFileTool } from './write-file-tool.ts'

export type SandboxToolName =
  | 'bash'
  | 'read_file'
  | 'write_file'
  | 'edit_file'
  | 'list_files'
  | 'search_files'
  | 'open_port'
  | 'save_checkpoint'
  | 'list_checkpoints'
  | 'compare_checkpoints'
  | 'publish_artifact'

export interface SandboxToolsOptions {
  /** Which tools. All when left out; those of checkpoints are for runs that have them. */
  include?: readonly SandboxToolName[]
  /** Most bytes of output that a call returns. Default 65,536. */
  maxOutputBytes?: number
  /** Longest time of one command. Default 600,000. */
  timeoutMs?: number
}

const DEFAULT_LIMITS: SandboxToolLimits = { maxOutputBytes: 64 * 1024, timeoutMs: 600_000 }

const TOOLS: ReadonlyMap<string, SandboxTool> = new Map(
  [
    bashTool,
    readFileTool,
    writeFileTool,
    editFileTool,
    listFilesTool,
    searchFilesTool,
    openPortTool,
    saveCheckpointTool,
    listCheckpointsTool,
    compareCheckpointsTool,
    publishArtifactTool,
  ].map((tool) => [tool.name, tool]),
)

/** Calls that a successor may make again when nobody knows whether the first one took effect. */
const REPEATABLE: ReadonlySet<string> = new Set(['read_file', 'write_file', 'list_files', 'search_files', 'open_port'])

/** Marks a tool as ours, so that `withSandbox` can bind it to a run's sandbox. */
const MARK = 'holdfast.sandboxTool'

/**
 * Tools for a chat model that work on the run's sandbox. They do nothing by themselves: `withSandbox` binds them to the
 * sandbox of each run. `INVALID_CONFIGURATION` for an unknown name or a limit that is not positive.
 */
export function sandboxTools(options: SandboxToolsOptions = {}): Tool[] {
  const { include = [...TOOLS.keys()], ...given } = options
  const limits: SandboxToolLimits = { ...DEFAULT_LIMITS, ...given }
  if (!(limits.maxOutputBytes > 0) || !(limits.timeoutMs > 0))
    throw invalid('Limits of sandbox tools must be positive.')
  return include.map((name) => {
    const tool = TOOLS.get(name)
    if (tool === undefined)
      throw invalid(`There is no sandbox tool ${JSON.stringify(name)}; there are ${[...TOOLS.keys()].join(', ')}.`)
    return placeholder(tool, limits)
  })
}

function placeholder(tool: SandboxTool, limits: SandboxToolLimits): Tool {
  return {
    name: tool.name,
    description: tool.description,
    inputSchema: tool.inputSchema as NonNullable<Tool['inputSchema']>,
    metadata: { [MARK]: limits, [IDEMPOTENT]: REPEATABLE.has(tool.name) },
    execute: () => {
      throw new InvalidInputError(
        'INVALID_CONFIGURATION',
        `Tool ${tool.name} has no sandbox: add withSandbox(...) to the chat's middleware.`,
      )
    },
  }
}

/** What a marked tool does and its limits; undefined for anybody else's tool, whatever its name. */
export function sandboxToolOf(tool: Tool): { tool: SandboxTool; limits: SandboxToolLimits } | undefined {
  const limits: unknown = tool.metadata?.[MARK]
  const ours = TOOLS.get(tool.name)
  return limits === undefined || ours === undefined ? undefined : { tool: ours, limits: limits as SandboxToolLimits }
}

/** By name alone, where the tool object is not at hand. */
export function findSandboxTool(name: string): SandboxTool | undefined {
  return TOOLS.get(name)
}

function invalid(message: string): InvalidInputError {
  return new InvalidInputError('INVALID_CONFIGURATION', message)
}
