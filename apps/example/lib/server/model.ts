import type { AnyTextAdapter } from '@tanstack/ai'
import { demoModel } from '../demo-model/demo-model.ts'

export interface Model {
  name: string
  adapter: () => Promise<AnyTextAdapter>
}

/** The model that the keys in the environment allow; the scripted one when there is no key. */
export function model(): Model {
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
