import { defineSandboxProvider, NotFoundError, ProviderError } from '@holdfast/core'
import type { SandboxBackend, SandboxBackendHandle, SandboxCapabilities, SandboxProvider } from '@holdfast/core'
import type { SimHost } from './sim-host.ts'
import type { SimWorld } from './sim-world.ts'

export const SERVICE = 'simulated'

interface ServiceSandbox {
  readonly id: string
  readonly labels: Readonly<Record<string, string>>
  readonly files: Map<string, Uint8Array>
}

/** A sandbox service that keeps files and only notes what it is to run. It knows what it holds, whoever forgot it. */
export class SandboxService {
  readonly sandboxes = new Map<string, ServiceSandbox>()
  readonly #world: SimWorld
  readonly #onCommand: (command: string) => Promise<void>

  constructor(world: SimWorld, onCommand: (command: string) => Promise<void>) {
    this.#world = world
    this.#onCommand = onCommand
  }

  /** The service as one host sees it: each call is a journey of its own, and may go wrong. */
  providerOf(host: SimHost, failRate: number): SandboxProvider {
    return defineSandboxProvider(this.#backend(host, failRate))
  }

  #backend(host: SimHost, failRate: number): SandboxBackend {
    const call = <T>(name: string, work: () => T | Promise<T>): Promise<T> =>
      this.#world.send(host, `provider.${name}`, 'outside', async () => {
        const fails = host.isHealthy ? 'no' : this.#failure(failRate)
        if (fails === 'before') throw new ProviderError('PROVIDER_UNAVAILABLE', `${name} failed.`, { retryable: true })
        const result = await work()
        if (fails === 'after')
          throw new ProviderError('PROVIDER_TIMEOUT', `${name} took too long.`, { retryable: true })
        return result
      })
    return {
      name: SERVICE,
      capabilities,
      create: (input) =>
        call('create', () => {
          const id = input.id ?? 'unnamed'
          const existing = this.sandboxes.get(id)
          if (existing === undefined) {
            this.sandboxes.set(id, { id, labels: input.labels ?? {}, files: new Map() })
            this.#world.note(`service creates ${id.slice(0, 6)}`)
          }
          return this.#handle(id, call)
        }),
      resume: ({ id }) => call('resume', () => (this.sandboxes.has(id) ? this.#handle(id, call) : null)),
      destroy: ({ id, signal }) =>
        call('destroy', () => {
          if (signal?.aborted === true) return
          if (this.sandboxes.delete(id)) this.#world.note(`service destroys ${id.slice(0, 6)}`)
        }),
      list: () => call('list', () => [...this.sandboxes.values()].map(listing)),
    }
  }

  #failure(failRate: number): 'no' | 'before' | 'after' {
    if (!this.#world.random.chance(failRate)) return 'no'
    return this.#world.random.chance(0.5) ? 'before' : 'after'
  }

  #handle(id: string, call: <T>(name: string, work: () => T | Promise<T>) => Promise<T>): SandboxBackendHandle {
    const files = (): Map<string, Uint8Array> => {
      const found = this.sandboxes.get(id)
      if (found === undefined) throw new NotFoundError('SANDBOX_NOT_FOUND', `No sandbox ${id}.`)
      return found.files
    }
    const unsupported = (): Promise<never> => Promise.reject(new Error('The simulated sandbox runs nothing.'))
    return {
      id,
      workspaceRoot: '/workspace',
      fs: {
        readBytes: (path) =>
          call('read', () => {
            const bytes = files().get(path)
            if (bytes === undefined) throw new NotFoundError('FILE_NOT_FOUND', `No ${path}.`)
            return bytes
          }),
        write: (path, data) => call('write', () => void files().set(path, data)),
        list: (path) => call('list files', () => entriesBelow(files(), path)),
        mkdir: () => call('mkdir', () => void files()),
        remove: (path) => call('remove', () => void files().delete(path)),
        rename: unsupported,
        exists: (path) => call('exists', () => files().has(path)),
        lstat: unsupported,
      },
      exec: (command) =>
        call('exec', async () => {
          files()
          await this.#onCommand(command)
          return { stdout: '', stderr: '', exitCode: 0 }
        }),
      spawn: unsupported,
      destroy: () => call('destroy', () => void this.sandboxes.delete(id)),
    }
  }
}

function listing({ id, labels }: ServiceSandbox): {
  sandboxId: string
  labels: ServiceSandbox['labels']
  state: string
} {
  return { sandboxId: id, labels, state: 'running' }
}

function entriesBelow(
  files: ReadonlyMap<string, Uint8Array>,
  path: string,
): { name: string; path: string; type: 'file' }[] {
  const names = [...files.keys()].filter((name) => name.startsWith(`${path}/`))
  return names.map((name) => ({ name: name.slice(path.length + 1), path: name, type: 'file' }))
}

function capabilities(): SandboxCapabilities {
  const no = 'The simulated service has files alone.'
  return {
    fs: true,
    exec: true,
    env: true,
    ports: false,
    backgroundProcesses: false,
    writableStdin: false,
    killableProcesses: true,
    snapshots: false,
    networkPolicy: false,
    durableFilesystem: true,
    fork: false,
    unsupported: {
      ports: no,
      backgroundProcesses: no,
      writableStdin: no,
      snapshots: no,
      networkPolicy: no,
      fork: no,
      archive: no,
      terminal: no,
      access: no,
      symlinks: no,
    },
  }
}
