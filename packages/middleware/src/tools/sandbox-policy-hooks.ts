import type { ChatMiddleware, ChatMiddlewareContext, ModelMessage, ToolCall } from '@tanstack/ai'
import { GenericInterruptDefinitionRegistryCapability } from '@tanstack/ai/adapter-internals'
import { decideToolInput } from './decide-tool-input.ts'
import { sandboxApproval } from './sandbox-approval.ts'
import type { SandboxTool } from './sandbox-tool.ts'
import type { SandboxToolBinding } from './sandbox-tool-binding.ts'
import { findSandboxTool, sandboxToolOf } from './sandbox-tools.ts'

/** Typed as if they emitted nothing: a chat without `ask` in its policy need not register `sandboxApproval`. */
type PolicyHooks = Required<Pick<ChatMiddleware, 'onInterruptBoundary' | 'onInterruptResolution' | 'onBeforeToolCall'>>

type Answer = { approved: boolean; reason?: string | undefined }

/** Longest action that a person is shown. */
const MAX_ACTION_CHARACTERS = 4_000

/**
 * Puts the policy between a model and its sandbox tools: a call that the policy asks about pauses the run until a person
 * has answered; then an approved call runs and a refused one gets an error result. Where the chat cannot pause, because
 * `sandboxApproval` is not registered on it, such a call gets an error result that says so.
 */
export function sandboxPolicyHooks(binding: SandboxToolBinding): PolicyHooks {
  const answers = new Map<string, Answer>()
  return {
    onInterruptBoundary(ctx) {
      if (ctx.phase !== 'beforeTools' || !canAsk(ctx)) return undefined
      const asked = pendingToolCalls(ctx.messages).filter(
        (call) => !answers.has(call.id) && mustAsk(call, ctx, binding),
      )
      if (asked.length === 0) return undefined
      return { interrupts: asked.map((call) => approvalRequest(call, binding)) as unknown as readonly never[] }
    },
    onInterruptResolution(_ctx, resolutions) {
      for (const { request, status, response } of resolutions.for(sandboxApproval)) {
        answers.set(request.key, status === 'resolved' ? (response as Answer) : { approved: false })
      }
      return { toolResume: 'continue' }
    },
    onBeforeToolCall(ctx, { tool, toolCallId, args }) {
      const ours = tool === undefined ? undefined : sandboxToolOf(tool)
      if (ours === undefined || decideToolInput(ours.tool, args, binding) !== 'ask') return undefined
      const answer = answers.get(toolCallId)
      if (answer?.approved === true) return undefined
      return { type: 'skip', result: refusal(answer, canAsk(ctx)) }
    },
  }
}

function mustAsk(call: ToolCall, ctx: ChatMiddlewareContext, binding: SandboxToolBinding): boolean {
  const tool = findSandboxTool(call.function.name)
  if (tool === undefined || ctx.toolNames?.includes(tool.name) === false) return false
  return decideToolInput(tool, parsedArguments(call), binding) === 'ask'
}

function approvalRequest(call: ToolCall, binding: SandboxToolBinding): ReturnType<typeof sandboxApproval.interrupt> {
  const tool = findSandboxTool(call.function.name)
  const action = describeCall(tool, call)
  const rule = askingRule(tool, call, binding)
  return sandboxApproval.interrupt({
    key: call.id,
    reason: 'sandbox_policy',
    message: `Approval is needed for ${call.function.name}.`,
    payload: {
      toolCallId: call.id,
      toolName: call.function.name,
      action: (binding.redactor?.text(action) ?? action).slice(0, MAX_ACTION_CHARACTERS),
      ...(rule === undefined ? {} : { rule }),
    },
  })
}

function describeCall(tool: SandboxTool | undefined, call: ToolCall): string {
  const parsed = tool?.inputSchema.safeParse(parsedArguments(call))
  return parsed?.success === true ? (tool?.describe?.(parsed.data) ?? call.function.name) : call.function.name
}

function askingRule(tool: SandboxTool | undefined, call: ToolCall, binding: SandboxToolBinding): string | undefined {
  const parsed = tool?.inputSchema.safeParse(parsedArguments(call))
  return parsed?.success === true ? tool?.askedBy?.(parsed.data, binding) : undefined
}

/** `approved: false` tells a call that a person refused from one that failed. */
function refusal(answer: Answer | undefined, canPause: boolean): { approved?: false; error: string } {
  if (answer !== undefined) {
    const reason = answer.reason === undefined ? '' : ` ${answer.reason}`
    return { approved: false, error: `A person refused this call.${reason}` }
  }
  if (canPause) return { error: 'This call needs the approval of a person, and has none.' }
  return { error: 'The sandbox policy needs a person to approve this call, and this chat cannot ask one.' }
}

function canAsk(ctx: ChatMiddlewareContext): boolean {
  const registry = ctx.getOptional(GenericInterruptDefinitionRegistryCapability)
  return registry?.definitions.get(sandboxApproval.id) === sandboxApproval
}

/** Calls without a result, newest turn only: earlier ones are never run again. */
function pendingToolCalls(messages: readonly ModelMessage[]): ToolCall[] {
  const last = messages.findLastIndex(({ role, toolCalls = [] }) => role === 'assistant' && toolCalls.length > 0)
  const answered = new Set(messages.slice(last + 1).map(({ toolCallId }) => toolCallId))
  return (messages[last]?.toolCalls ?? []).filter((call) => !answered.has(call.id))
}

function parsedArguments(call: ToolCall): unknown {
  try {
    return JSON.parse(call.function.arguments.trim() || '{}') as unknown
  } catch {
    // The engine refuses the call with an error result of its own.
    return undefined
  }
}
