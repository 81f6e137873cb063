import { InvalidInputError } from '../errors/error-classes.ts'
import { assertId } from '../identifier.ts'
import { assertEnvVars } from '../provider-kit/env-vars.ts'
import { guardedCall } from './define/guarded-call.ts'
import { guardedHandle } from './define/guarded-handle.ts'
import { providerExtras } from './define/provider-extras.ts'
import type { SandboxBackend, SandboxBackendHandle } from './sandbox-backend.ts'
import type { SandboxHandle } from './sandbox-handle.ts'
import type { SandboxCreateInput, SandboxProvider, SandboxRestoreInput } from './sandbox-provider.ts'

const REQUIRED = ['capabilities', 'create', 'resume', 'destroy'] as const

/**
 * Makes a provider of an author's backend: arguments are checked, paths mapped and confined, variables merged, closed
 * handles refused, aborts and errors told as the contract says. None of that is repeated in a backend.
 */
export function defineSandboxProvider(backend: SandboxBackend): SandboxProvider {
  assertBackend(backend)
  const { name } = backend
  const mapError = backend.mapError?.bind(backend)
  const wrap = (handle: SandboxBackendHandle, env: Record<string, string>): SandboxHandle =>
    guardedHandle({ provider: name, backend: handle, capabilities: backend.capabilities(), env, mapError })

  const provider: SandboxProvider = {
    name,
    capabilities: () => backend.capabilities(),
    create: (input) =>
      guardedCall(mapError, 'create', input.signal, async () => {
        const checked = checkedCreateInput(input)
        return wrap(await backend.create(checked), assertEnvVars(checked.env))
      }),
    resume: (input) =>
      guardedCall(mapError, 'resume', input.signal, async () => {
        assertId('id', input.id)
        const handle = await backend.resume(input)
        return handle === null ? null : wrap(handle, {})
      }),
    destroy: (input) =>
      guardedCall(mapError, 'destroy', input.signal, () => {
        assertId('id', input.id)
        return backend.destroy(input)
      }),
    ...providerExtras(backend, mapError),
  }
  const { restoreSnapshot } = backend
  if (restoreSnapshot !== undefined && backend.capabilities().snapshots) {
    provider.restoreSnapshot = (input) =>
      guardedCall(mapError, 'restoreSnapshot', input.signal, async () => {
        assertId('snapshotId', input.snapshotId)
        const checked = checkedCreateInput(input)
        return wrap(await restoreSnapshot.call(backend, checked), assertEnvVars(checked.env))
      })
  }
  return provider
}

function assertBackend(backend: SandboxBackend): void {
  if (typeof backend.name !== 'string' || backend.name === '') {
    throw new InvalidInputError('INVALID_CONFIGURATION', 'A sandbox backend needs a name.')
  }
  const missing = REQUIRED.filter((method) => typeof backend[method] !== 'function')
  if (missing.length > 0) {
    throw new InvalidInputError('INVALID_CONFIGURATION', `Sandbox backend ${backend.name} lacks ${missing.join(', ')}.`)
  }
}

function checkedCreateInput<T extends SandboxCreateInput | SandboxRestoreInput>(input: T): T {
  if (input.id !== undefined) assertId('id', input.id)
  const checked = { ...input }
  if (input.env !== undefined) checked.env = assertEnvVars(input.env)
  if (input.labels !== undefined) checked.labels = checkedLabels(input.labels)
  return checked
}

function checkedLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  for (const [label, value] of Object.entries(labels)) {
    assertId('label name', label)
    if (typeof value !== 'string') {
      throw new InvalidInputError('INVALID_ARGUMENT', `The value of label ${label} must be a string.`)
    }
  }
  return { ...labels }
}
