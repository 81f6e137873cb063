import type { SandboxInstanceStore, SandboxPolicy } from '@holdfast/core'
import { chat } from '@tanstack/ai'
import type { AnyTextAdapter, Tool } from '@tanstack/ai'
import { InMemoryLockStore } from '@tanstack/ai/locks'
import type { SandboxEnsureContext } from '../../../src/definition/ensure-context.ts'
import { defineSandboxPolicy } from '../../../src/policy/define-sandbox-policy.ts'
import { createSecrets } from '../../../src/secrets/create-secrets.ts'
import { sandboxApproval } from '../../../src/tools/sandbox-approval.ts'
import { sandboxTools } from '../../../src/tools/sandbox-tools.ts'

declare const adapter: AnyTextAdapter
declare const store: SandboxInstanceStore

export const tools: Tool[] = sandboxTools({ include: ['bash'] })
export const stream = chat({
  adapter,
  tools,
  interrupts: [sandboxApproval],
  messages: [{ role: 'user', content: 'go' }],
})

/** A lock store of TanStack's is enough. */
export const context: SandboxEnsureContext = { threadId: 't', runId: 'r', store, locks: new InMemoryLockStore() }

export const policy: SandboxPolicy = defineSandboxPolicy({ commands: { allow: ['ls*'] }, default: 'ask' })

const secrets = createSecrets({ TOKEN: 'value-of-8-bytes' })
export const name: string = secrets.TOKEN.secretName
// @ts-expect-error -- a name that was not declared
export const missing = secrets.OTHER
// @ts-expect-error -- there is no tool of this name
export const unknown = sandboxTools({ include: ['fly'] })
