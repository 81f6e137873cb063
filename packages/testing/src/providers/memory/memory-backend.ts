import { randomUUID } from 'node:crypto'
import { ConflictError, NotFoundError, systemClock } from '@holdfast/core'
import type {
  Clock,
  SandboxBackend,
  SandboxBackendHandle,
  SandboxCapabilities,
  SandboxCreateInput,
  SandboxDestroyInput,
  SandboxListing,
  SandboxProbe,
  SandboxRestoreInput,
  SandboxResumeInput,
} from '@holdfast/core'
import { haveSameLabels, carriesLabels } from '../sandbox-labels.ts'
import { TreeWatcher } from '../files/tree-watcher.ts'
import { memoryCapabilities } from './memory-capabilities.ts'
import { MemorySandbox } from './memory-sandbox.ts'
import type { MemoryTree } from './memory-tree.ts'

export interface MemoryBackendOptions {
  clock?: Clock
  name?: string
}

/** Sandboxes in this process's memory. */
export class MemoryBackend implements SandboxBackend {
  readonly name: string
  readonly #clock: Clock
  readonly #watcher: TreeWatcher
  readonly #sandboxes = new Map<string, MemorySandbox>()
  readonly #snapshots = new Map<string, MemoryTree>()

  constructor(options: MemoryBackendOptions = {}) {
    this.name = options.name ?? 'memory'
    this.#clock = options.clock ?? systemClock
    this.#watcher = new TreeWatcher(this.#clock)
  }

  capabilities(): SandboxCapabilities {
    return memoryCapabilities()
  }

  async create(input: SandboxCreateInput): Promise<SandboxBackendHandle> {
    return this.#addOrAdopt(input, undefined)
  }

  async resume(input: SandboxResumeInput): Promise<SandboxBackendHandle | null> {
    const sandbox = this.#sandboxes.get(input.id)
    return sandbox === undefined ? null : this.#open(sandbox)
  }

  async restoreSnapshot(input: SandboxRestoreInput): Promise<SandboxBackendHandle> {
    const tree = this.#snapshots.get(input.snapshotId)
    if (tree !== undefined) return this.#addOrAdopt(input, tree.copy())
    throw new NotFoundError('SANDBOX_NOT_FOUND', `No snapshot has the id ${input.snapshotId}.`)
  }

  async destroy(input: SandboxDestroyInput): Promise<void> {
    const sandbox = this.#sandboxes.get(input.id)
    if (sandbox === undefined) return
    this.#sandboxes.delete(input.id)
    await sandbox.destroy()
  }

  async list(input: { labels: Readonly<Record<string, string>> }): Promise<SandboxListing[]> {
    return [...this.#sandboxes.values()]
      .filter(({ labels }) => carriesLabels(labels, input.labels))
      .map(({ id, labels, state, createdAt }) => ({ sandboxId: id, labels: { ...labels }, state, createdAt }))
  }

  async park(input: { id: string }): Promise<void> {
    const sandbox = this.#sandboxes.get(input.id)
    if (sandbox === undefined) throw new NotFoundError('SANDBOX_NOT_FOUND', `No sandbox has the id ${input.id}.`)
    await sandbox.runner.stopAll()
    sandbox.state = 'stopped'
  }

  async probe(): Promise<SandboxProbe> {
    return { ok: true }
  }

  async close(): Promise<void> {
    this.#watcher.stopAll()
  }

  #addOrAdopt(input: Pick<SandboxCreateInput, 'id' | 'labels'>, tree: MemoryTree | undefined): SandboxBackendHandle {
    const id = input.id ?? randomUUID()
    const labels = { ...input.labels }
    const existing = this.#sandboxes.get(id)
    if (existing !== undefined) {
      if (haveSameLabels(existing.labels, labels)) return this.#open(existing)
      throw new ConflictError('SANDBOX_FOREIGN', `Sandbox ${id} exists with other labels.`)
    }
    const sandbox = new MemorySandbox({ id, labels, clock: this.#clock, ...(tree === undefined ? {} : { tree }) })
    this.#sandboxes.set(id, sandbox)
    return this.#open(sandbox)
  }

  #open(sandbox: MemorySandbox): SandboxBackendHandle {
    sandbox.state = 'running'
    return sandbox.handle({
      watcher: this.#watcher,
      snapshot: async (label) => {
        const id = randomUUID()
        this.#snapshots.set(id, sandbox.tree.copy())
        return { id, ...(label === undefined ? {} : { label }) }
      },
      fork: async () => this.#addOrAdopt({ labels: sandbox.labels }, sandbox.tree.copy()),
      destroy: () => this.destroy({ id: sandbox.id }),
    })
  }
}
