import { commandAgent } from '@holdfast/middleware'
import type { AnyTextAdapter, ModelMessage } from '@tanstack/ai'
import script from './agent.sh?raw'

const NAME = 'scripted-agent'
/** How a message asks for the agent in place of the model. */
const ASKS_AGENT = /^\/agent(?:\s+|$)/

/** For the workspace: scripts become programs in `.holdfast/bin`. */
export const AGENT_SCRIPTS: Readonly<Record<string, string>> = { [NAME]: script }

/** A command-line agent in the run's sandbox. Any other one is started the same way, with `parse` for what it prints. */
export function scriptedAgent(): AnyTextAdapter {
  return commandAgent({
    name: NAME,
    command: `sh .holdfast/bin/${NAME}`,
    parse: 'ag-ui',
    toPrompt: (messages) => lastRequest(messages).replace(ASKS_AGENT, ''),
  })
}

/** Whether the person's last message is for the agent. Known from the conversation, so any host decides the same. */
export function asksAgent(messages: readonly ModelMessage[]): boolean {
  return ASKS_AGENT.test(lastRequest(messages))
}

function lastRequest(messages: readonly ModelMessage[]): string {
  const content = messages.findLast((message) => message.role === 'user')?.content ?? ''
  if (typeof content === 'string') return content
  return content.map((part) => (part.type === 'text' ? part.content : '')).join('\n')
}
