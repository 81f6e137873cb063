import type { PolicyDecision, SandboxHandle } from '@holdfast/core'
import type { z } from 'zod'
import type { SandboxToolBinding } from './sandbox-tool-binding.ts'

/** Limits that hold for every sandbox tool. */
export interface SandboxToolLimits {
  /** Most bytes of output that a call returns: half from its beginning, half from its end. */
  readonly maxOutputBytes: number
  /** Longest time of one command. */
  readonly timeoutMs: number
}

/** One call of a tool by a model. The input is a stranger's. */
export interface SandboxToolCall {
  readonly toolCallId: string
  readonly handle: SandboxHandle
  readonly binding: SandboxToolBinding
  readonly limits: SandboxToolLimits
  /** Aborts when the run or the call does. */
  readonly signal?: AbortSignal
}

/** A tool that works on a sandbox. What `run` throws becomes the call's error result. */
export interface SandboxTool<Input = unknown> {
  readonly name: string
  readonly description: string
  readonly inputSchema: z.ZodType<Input>
  /** Left out for runs that have no checkpoints. */
  readonly needsCheckpoints?: true
  /** What the policy says about this input. Absent: allowed. */
  readonly decide?: (input: Input, binding: SandboxToolBinding) => PolicyDecision
  /** The rule of the policy that asks about this input, where there is one to be named. */
  readonly askedBy?: (input: Input, binding: SandboxToolBinding) => string | undefined
  /** What a person is asked to approve. */
  readonly describe?: (input: Input) => string
  readonly run: (input: Input, call: SandboxToolCall) => Promise<unknown>
}

/** Keeps the input's type between schema, policy and work, and forgets it outside. */
export function defineSandboxTool<Input>(tool: SandboxTool<Input>): SandboxTool {
  return tool as unknown as SandboxTool
}
