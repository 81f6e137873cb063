import type { PolicyDecision } from '@holdfast/core'
import type { SandboxTool } from './sandbox-tool.ts'
import type { SandboxToolBinding } from './sandbox-tool-binding.ts'

/** What the policy says about a call. An input that the tool refuses anyway needs nobody's approval. */
export function decideToolInput(tool: SandboxTool, input: unknown, binding: SandboxToolBinding): PolicyDecision {
  if (tool.decide === undefined) return 'allow'
  const parsed = tool.inputSchema.safeParse(input)
  return parsed.success ? tool.decide(parsed.data, binding) : 'allow'
}
