import type { ModelInput } from '@holdfast/middleware'
import type { AnyTextAdapter } from '@tanstack/ai'
import { demoModel } from '../demo-model/demo-model.ts'
import { asksAgent, scriptedAgent } from '../scripted-agent/scripted-agent.ts'
import { stores } from './stores.ts'

export interface Model {
  name: string
  adapter: (run: ModelInput) => Promise<AnyTextAdapter>
}

/** The model that the keys in the environment allow. A message that begins with `/agent` goes to the sandbox's agent. */
export function model(): Model {
  const { name, adapter } = chatModel()
  return {
    name,
    async adapter({ threadId }) {
      const messages = await stores().messages.loadThread(threadId)
      return asksAgent(messages) ? scriptedAgent() : adapter()
    },
  }
}

/** The scripted one when there is no key. */
function chatModel(): { name: string; adapter: () => Promise<AnyTextAdapter> } {
  if (process.env['OPENAI_API_KEY']) {
    const name = 'gpt-5.2'
    return { name: `openai ${name}`, adapter: async () => (await import('@tanstack/ai-openai')).openaiText(name) }
  }
  if (process.env['ANTHROPIC_API_KEY']) {
    const name = 'claude-sonnet-5'
    return {
      name: `anthropic ${name}`,
      adapter: async () => (await import('@tanstack/ai-anthropic')).anthropicText(name),
    }
  }
  return { name: 'demo', adapter: async () => demoModel() }
}
