import type { SandboxHandle } from '@holdfast/core'
import { chat, defineChatMiddleware } from '@tanstack/ai'
import type { ModelMessage, StreamChunk, Tool } from '@tanstack/ai'
import { bindSandboxTools } from '../../../src/tools/bind-sandbox-tools.ts'
import { sandboxApproval } from '../../../src/tools/sandbox-approval.ts'
import { sandboxPolicyHooks } from '../../../src/tools/sandbox-policy-hooks.ts'
import type { SandboxToolBinding } from '../../../src/tools/sandbox-tool-binding.ts'
import { sandboxTools } from '../../../src/tools/sandbox-tools.ts'
import { sandboxFixture } from '../../fixtures/sandbox-fixture.ts'
import { scriptedModel } from '../../fixtures/scripted-model.ts'
import type { ModelAction } from '../../fixtures/scripted-model.ts'

export interface ToolsFixture {
  handle: SandboxHandle
  /** Custom events of the last chat, by name. */
  emitted: { name: string; value: Record<string, unknown> }[]
  binding: (options?: Partial<SandboxToolBinding>) => SandboxToolBinding
  /** Runs one tool outside a chat. */
  call: (name: string, args: Record<string, unknown>, options?: Partial<SandboxToolBinding>) => Promise<unknown>
}

export async function toolsFixture(): Promise<ToolsFixture> {
  const { provider } = await sandboxFixture()
  const handle = await provider.create({ id: 'tools' })
  const emitted: ToolsFixture['emitted'] = []
  const binding = (options: Partial<SandboxToolBinding> = {}): SandboxToolBinding => ({
    handle: () => handle,
    emit: (name, value) => void emitted.push({ name, value }),
    ...options,
  })
  return {
    handle,
    emitted,
    binding,
    async call(name, args, options) {
      const [tool] = bindSandboxTools(sandboxTools({ include: [name as 'bash'] }), binding(options))
      return tool?.execute?.(args, { toolCallId: 'call-1', emitCustomEvent: () => undefined, context: undefined })
    },
  }
}

export interface ChatInput {
  turns: ModelAction[][]
  messages?: ModelMessage[]
  tools?: Tool[]
  binding: SandboxToolBinding
  resume?: unknown
  parentRunId?: string
  isRegistered?: boolean
}

/** A real chat with a scripted model, wired as `withSandbox` wires it. */
export async function chatWith(input: ChatInput): Promise<StreamChunk[]> {
  const hooks = sandboxPolicyHooks(input.binding)
  const middleware = defineChatMiddleware({
    name: 'sandbox',
    onConfig: (ctx, config) =>
      ctx.phase === 'init' ? { tools: bindSandboxTools(config.tools, input.binding) } : undefined,
    ...hooks,
  })
  const chunks: StreamChunk[] = []
  const stream = chat({
    adapter: scriptedModel(input.turns).adapter,
    messages: input.messages ?? [{ role: 'user', content: 'go' }],
    tools: input.tools ?? sandboxTools(),
    middleware: [middleware],
    ...(input.isRegistered !== false && { interrupts: [sandboxApproval] }),
    ...(input.resume !== undefined && { resume: input.resume, parentRunId: input.parentRunId, runId: 'run-2' }),
    threadId: 'thread-1',
  } as unknown as Parameters<typeof chat>[0]) as AsyncIterable<StreamChunk>
  for await (const chunk of stream) chunks.push(structuredClone(chunk))
  return chunks
}

/** Results of tool calls by id, as the model gets them. */
export function resultsOf(chunks: readonly StreamChunk[]): Record<string, unknown> {
  const results = chunks.filter((chunk) => chunk.type === 'TOOL_CALL_RESULT')
  return Object.fromEntries(results.map((chunk) => [chunk.toolCallId, JSON.parse(chunk.content as string) as unknown]))
}
