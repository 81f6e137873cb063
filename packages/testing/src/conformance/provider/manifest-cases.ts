import assert from 'node:assert/strict'
import type { SandboxCapabilities, SandboxHandle } from '@holdfast/core'
import { providerCase, sandboxCase } from './provider-case.ts'
import type { ProviderCase } from './provider-case.ts'

const CAPABILITIES = [
  'fs',
  'exec',
  'env',
  'ports',
  'backgroundProcesses',
  'writableStdin',
  'killableProcesses',
  'snapshots',
  'networkPolicy',
  'durableFilesystem',
  'fork',
] as const

const EXTRA_CAPABILITIES = ['archive', 'terminal', 'access', 'symlinks'] as const

function reasonsMissing(capabilities: SandboxCapabilities): string[] {
  const names = [...CAPABILITIES, ...EXTRA_CAPABILITIES]
  return names.filter((name) => capabilities[name] !== true && (capabilities.unsupported?.[name] ?? '').trim() === '')
}

function groupsOf(handle: SandboxHandle): Record<string, boolean> {
  return {
    archive: handle.archive !== undefined,
    terminal: handle.terminal !== undefined,
    access: handle.access !== undefined,
    snapshots: handle.snapshot !== undefined,
    fork: handle.fork !== undefined,
    symlinks: handle.fs.readlink !== undefined && handle.fs.symlink !== undefined,
  }
}

export const manifestCases: readonly ProviderCase[] = [
  providerCase(
    'manifest.names-every-capability',
    'the manifest says true or false for every ability',
    async ({ provider }) => {
      const capabilities = provider.capabilities()
      for (const name of CAPABILITIES) assert.equal(typeof capabilities[name], 'boolean', name)
    },
  ),
  providerCase(
    'manifest.gives-reasons',
    'an ability that is false has its reason in `unsupported`',
    async ({ provider }) => {
      assert.deepEqual(reasonsMissing(provider.capabilities()), [])
    },
  ),
  providerCase(
    'manifest.is-stable',
    'the manifest is the same on every call and on the handle',
    async ({ provider, create }) => {
      assert.deepEqual(provider.capabilities(), provider.capabilities())
      assert.deepEqual((await create()).capabilities, provider.capabilities())
    },
  ),
  sandboxCase(
    'manifest.optional-groups',
    'an optional group is present exactly when its capability is true',
    async (sandbox) => {
      const declared = Object.keys(groupsOf(sandbox)).map((name) => [
        name,
        Reflect.get(sandbox.capabilities, name) === true,
      ])
      assert.deepEqual(groupsOf(sandbox), Object.fromEntries(declared))
    },
  ),
  sandboxCase(
    'manifest.handle-names-its-provider',
    'a handle names its provider and has an id',
    async (sandbox, { provider }) => {
      assert.equal(sandbox.provider, provider.name)
      assert.notEqual(sandbox.id, '')
    },
  ),
]
