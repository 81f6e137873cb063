import { processProvider } from '@holdfast/testing'
import { describe, expect, it } from 'vitest'
import { defineSandbox } from '../../../src/definition/define-sandbox.ts'
import { defineWorkspace } from '../../../src/definition/define-workspace.ts'
import type { WorkspaceOptions } from '../../../src/definition/define-workspace.ts'
import { parseDuration } from '../../../src/definition/parse-duration.ts'
import { gitSource, githubRepo } from '../../../src/definition/workspace-source.ts'
import { createSecrets } from '../../../src/secrets/create-secrets.ts'

const invalid = expect.objectContaining({ code: 'INVALID_CONFIGURATION' })

describe('defineWorkspace refuses', () => {
  it.each<[string, WorkspaceOptions]>([
    ['a credential in the URL', { source: { type: 'git', url: 'https://user:pw@host/r.git' } }],
    ['a token in the URL', { source: { type: 'git', url: 'https://ghp_token@host/r.git' } }],
    ['a URL that git would run', { source: { type: 'git', url: 'ext::sh -c id' } }],
    ['a URL that git would read as an option', { source: { type: 'git', url: '--upload-pack=id' } }],
    ['a ref that git would read as an option', { source: { type: 'git', url: 'https://h/r', ref: '--help' } }],
    ['a depth of 0', { source: { type: 'git', url: 'https://h/r', depth: 0 } }],
    ['an empty command', { setup: [' '] }],
    ['a relative root', { root: 'workspace' }],
    ['a root with dots', { root: '/workspace/../etc' }],
    ['a skill that leaves the workspace', { skills: [{ type: 'file', path: '../x', content: '' }] }],
    ['an absolute skill path', { skills: [{ type: 'file', path: '/etc/x', content: '' }] }],
    ['a skill name with a slash', { skills: [{ type: 'agent-skill', name: 'a/b', content: '' }] }],
    ['a script name with a slash', { scripts: { '../x': 'true' } }],
    ['an unknown package manager', { packageManager: 'cargo' as 'npm' }],
  ])('%s', (_what, options) => {
    expect(() => defineWorkspace(options)).toThrow(invalid)
  })

  it('a reference to a secret that is not declared', () => {
    const source = gitSource({ url: 'https://h/r', auth: { token: { secretName: 'TOKEN' } } })
    const missing = expect.objectContaining({ code: 'SECRET_MISSING' })
    expect(() => defineWorkspace({ source })).toThrow(missing)
    expect(() => defineWorkspace({ source, secrets: createSecrets({ OTHER: 'v4lue-of-other' }) })).toThrow(missing)
  })

  it('secrets that are a copy, because a copy has no values', () => {
    const secrets = createSecrets({ TOKEN: 'v4lue-of-token' })
    expect(() => defineWorkspace({ secrets: { ...secrets } })).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }),
    )
  })
})

describe('githubRepo', () => {
  it('takes owner/name and nothing else', () => {
    expect(githubRepo('tanstack/ai', { ref: 'main' })).toEqual({
      type: 'git',
      url: 'https://github.com/tanstack/ai.git',
      ref: 'main',
    })
    expect(() => githubRepo('https://github.com/tanstack/ai')).toThrow(invalid)
    expect(() => githubRepo('../ai')).toThrow(invalid)
  })
})

describe('durations', () => {
  it.each([
    ['30s', 30_000],
    ['30m', 1_800_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['1.5h', 5_400_000],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDuration('x', text)).toBe(ms)
  })

  it.each(['2w', '2', 'h', '-1h', '0h', '2 h', '2H', ''])('%j is refused', (text) => {
    expect(() => parseDuration('x', text)).toThrow(invalid)
  })
})

describe('defineSandbox', () => {
  it.each([
    { lifecycle: { snapshotMaxAge: '2w' as '2h' } },
    { lifecycle: { reuse: 'always' as 'thread' } },
    { lifecycle: { snapshot: 'never' as 'none' } },
    { destroyTimeoutMs: 0 },
  ])('refuses %j', (options) => {
    expect(() => defineSandbox({ id: 'app', provider: processProvider(), ...options })).toThrow(invalid)
  })
})
