import { processProvider } from '@holdfast/testing'
import { describe, expect, it } from 'vitest'
import { defineSandbox } from '../../../src/definition/define-sandbox.ts'
import { defineWorkspace } from '../../../src/definition/define-workspace.ts'
import type { SandboxDefinitionOptions } from '../../../src/definition/sandbox-definition.ts'
import type { SandboxKeyContext } from '../../../src/definition/sandbox-key.ts'
import { gitSource } from '../../../src/definition/workspace-source.ts'
import { createSecrets } from '../../../src/secrets/create-secrets.ts'

const base: SandboxDefinitionOptions = { id: 'app', provider: processProvider({ name: 'one' }) }
const run: SandboxKeyContext = { threadId: 't', runId: 'r' }

function keyOf(options: Partial<SandboxDefinitionOptions> = {}, context: Partial<SandboxKeyContext> = {}): string {
  return defineSandbox({ ...base, ...options }).key({ ...run, ...context })
}

describe('the sandbox key', () => {
  it.each([
    ['thread', {}, { threadId: 't2' }],
    ['definition', { id: 'other' }, {}],
    ['provider', { provider: processProvider({ name: 'two' }) }, {}],
    ['workspace', { workspace: defineWorkspace({ setup: ['true'] }) }, {}],
    ['user', {}, { tenant: { userId: 'u' } }],
    ['organisation', {}, { tenant: { orgId: 'u' } }],
  ] as [string, Partial<SandboxDefinitionOptions>, Partial<SandboxKeyContext>][])(
    'changes with the %s',
    (_what, options, context) => {
      expect(keyOf(options, context)).toMatch(/^[0-9a-f]{64}$/)
      expect(keyOf(options, context)).not.toBe(keyOf())
    },
  )

  it('does not tell two ways to spell one boundary apart by accident', () => {
    expect(keyOf({ id: 'a' }, { threadId: 'bc' })).not.toBe(keyOf({ id: 'ab' }, { threadId: 'c' }))
    expect(keyOf({}, { tenant: { userId: 'u' } })).not.toBe(keyOf({}, { tenant: { orgId: 'u' } }))
  })

  it('counts the run only when sandboxes are not reused', () => {
    expect(keyOf({}, { runId: 'r2' })).toBe(keyOf())
    const lifecycle = { reuse: 'none' } as const
    expect(keyOf({ lifecycle }, { runId: 'r2' })).not.toBe(keyOf({ lifecycle }))
  })

  it('is the same for a workspace that is written in another order', () => {
    const a = defineWorkspace({ scripts: { a: '1', b: '2' }, instructions: 'x' })
    const b = defineWorkspace({ instructions: 'x', scripts: { b: '2', a: '1' } })
    expect(keyOf({ workspace: a })).toBe(keyOf({ workspace: b }))
  })

  it('depends on the names of secrets and never on their values', () => {
    const withToken = (value: string) => {
      const secrets = createSecrets({ TOKEN: value })
      return defineWorkspace({ secrets, source: gitSource({ url: 'https://h/r', auth: { token: secrets.TOKEN } }) })
    }
    expect(keyOf({ workspace: withToken('first-v4lue') })).toBe(keyOf({ workspace: withToken('second-v4lue') }))
    const literal = (token: string) => defineWorkspace({ source: gitSource({ url: 'https://h/r', auth: { token } }) })
    expect(keyOf({ workspace: literal('first-v4lue') })).toBe(keyOf({ workspace: literal('second-v4lue') }))
    const other = defineWorkspace({ secrets: createSecrets({ OTHER: 'first-v4lue' }) })
    expect(keyOf({ workspace: other })).not.toBe(keyOf({ workspace: defineWorkspace() }))
  })

  it.each(['', 'a\nb', 'x'.repeat(257)])('refuses the thread id %j', (threadId) => {
    expect(() => keyOf({}, { threadId })).toThrow(expect.objectContaining({ code: 'INVALID_ID' }))
  })
})
