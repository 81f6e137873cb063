import { RefusedError } from '@holdfast/core'
import type { Tool } from '@tanstack/ai'
import { decideToolInput } from './decide-tool-input.ts'
import type { SandboxTool, SandboxToolLimits } from './sandbox-tool.ts'
import type { SandboxToolBinding } from './sandbox-tool-binding.ts'
import { sandboxToolOf } from './sandbox-tools.ts'

/** The part of the engine's execution context that a tool uses. */
interface ExecutionContext {
  toolCallId?: string
  abortSignal?: AbortSignal
}

/**
 * The same tools, ours as copies that work on the run's own sandbox. Tools of others are passed on as they are, and those
 * that need checkpoints are left out where there are none.
 */
export function bindSandboxTools<T extends Tool>(tools: readonly T[], binding: SandboxToolBinding): T[] {
  return tools.flatMap((tool) => {
    const ours = sandboxToolOf(tool)
    if (ours === undefined) return tool
    if (ours.tool.needsCheckpoints === true && binding.checkpoints?.() === undefined) return []
    return {
      ...tool,
      execute: (input: unknown, context?: ExecutionContext) => execute(ours.tool, ours.limits, binding, input, context),
    }
  })
}

async function execute(
  tool: SandboxTool,
  limits: SandboxToolLimits,
  binding: SandboxToolBinding,
  input: unknown,
  context: ExecutionContext = {},
): Promise<unknown> {
  if (decideToolInput(tool, input, binding) === 'deny') {
    throw new RefusedError('POLICY_DENIED', `The sandbox policy denies this ${tool.name} call. Do it another way.`)
  }
  const signals = [binding.signal, context.abortSignal].filter((signal) => signal !== undefined)
  const signal = AbortSignal.any(signals)
  signal.throwIfAborted()
  return tool.run(tool.inputSchema.parse(input), {
    toolCallId: context.toolCallId ?? tool.name,
    handle: binding.handle(),
    binding,
    limits,
    signal,
  })
}
