import { ConflictError, InvalidInputError, UnsupportedError } from '../../errors/error-classes.ts'
import { assertEnvVars } from '../../provider-kit/env-vars.ts'
import { resolveWorkspacePath, workspaceRelativePath } from '../../provider-kit/workspace-path.ts'
import type { SandboxBackendHandle } from '../sandbox-backend.ts'
import type { ExtraCapabilityName, SandboxCapabilities, SandboxCapabilityName } from '../sandbox-capabilities.ts'
import { backendError, guardedCall } from './guarded-call.ts'
import type { MapError } from './guarded-call.ts'

export interface HandleScopeInput {
  provider: string
  backend: SandboxBackendHandle
  capabilities: SandboxCapabilities
  env: Record<string, string>
  mapError: MapError
}

/** What all groups of one handle share: its life, its variables, its root and how its failures are told. */
export class HandleScope {
  readonly provider: string
  readonly backend: SandboxBackendHandle
  readonly capabilities: SandboxCapabilities
  readonly mapError: MapError
  #env: Record<string, string>
  #isDestroyed = false
  #destroying: Promise<void> | undefined

  constructor(input: HandleScopeInput) {
    this.provider = input.provider
    this.backend = input.backend
    this.capabilities = input.capabilities
    this.mapError = input.mapError
    this.#env = { ...input.env }
  }

  get root(): string {
    return this.backend.workspaceRoot
  }

  /** The handle's variables, with a call's own on top. */
  env(vars?: Readonly<Record<string, string>>): Record<string, string> {
    return { ...this.#env, ...assertEnvVars(vars) }
  }

  setEnv(vars: Readonly<Record<string, string>>): void {
    this.#env = this.env(vars)
  }

  /** The real path; the workspace root when left out. */
  path(path: string | undefined): string {
    return path === undefined ? resolveWorkspacePath(this.root, '.') : resolveWorkspacePath(this.root, path)
  }

  /** The real path of something other than the root itself, which must stay. */
  pathBelowRoot(path: string): string {
    if (workspaceRelativePath(this.root, path) === '.') {
      throw new InvalidInputError('INVALID_PATH', 'The workspace root itself cannot be removed, moved or replaced.')
    }
    return this.path(path)
  }

  /** Runs one call of the handle. `SANDBOX_CLOSED` once `destroy` has begun, unless that failed. */
  async call<T>(operation: string, signal: AbortSignal | undefined, call: () => Promise<T> | T): Promise<T> {
    if (this.#isDestroyed || this.#destroying !== undefined) {
      const message = `Sandbox ${this.backend.id} was destroyed; get a new handle before ${operation}.`
      throw new ConflictError('SANDBOX_CLOSED', message, { details: { sandboxId: this.backend.id } })
    }
    return await guardedCall(this.mapError, operation, signal, call)
  }

  toError(operation: string, signal?: AbortSignal): (error: unknown) => Error {
    return (error) => backendError(this.mapError, operation, signal, error)
  }

  require(name: SandboxCapabilityName | ExtraCapabilityName): void {
    if (this.capabilities[name] === true) return
    const reason = this.capabilities.unsupported?.[name] ?? 'It does not say why.'
    const message = `Provider ${this.provider} has no "${name}": ${reason}`
    throw new UnsupportedError('CAPABILITY_UNSUPPORTED', message, { details: { capability: name } })
  }

  /** One destruction at a time; after a success there is nothing left to do, after a failure it may be tried again. */
  destroy(): Promise<void> {
    if (this.#isDestroyed) return Promise.resolve()
    this.#destroying ??= guardedCall(this.mapError, 'destroy', undefined, () => this.backend.destroy())
      .then(() => {
        this.#isDestroyed = true
      })
      .finally(() => {
        this.#destroying = undefined
      })
    return this.#destroying
  }
}
