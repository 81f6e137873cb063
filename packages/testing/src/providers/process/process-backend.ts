import { randomUUID } from 'node:crypto'
import { access, constants } from 'node:fs/promises'
import { ConflictError, NotFoundError, ProviderError, systemClock } from '@holdfast/core'
import type {
  Clock,
  SandboxBackend,
  SandboxCapabilities,
  SandboxCreateInput,
  SandboxDestroyInput,
  SandboxListing,
  SandboxProbe,
  SandboxRestoreInput,
  SandboxResumeInput,
} from '@holdfast/core'
import { carriesLabels, haveSameLabels } from '../sandbox-labels.ts'
import { endFamily } from './end-family.ts'
import { processCapabilities } from './process-capabilities.ts'
import { ProcessHandle } from './process-handle.ts'
import { sandboxFamily } from './process-mark.ts'
import { SandboxDirectory } from './sandbox-directory.ts'
import type { SandboxRecord } from './sandbox-directory.ts'
import { SnapshotDirectory } from './snapshot-directory.ts'
import { TreeWatcher } from '../files/tree-watcher.ts'

type Labels = Readonly<Record<string, string>>

export interface ProcessBackendOptions {
  dir?: string
  clock?: Clock
  name?: string
}

const DESTROY_GRACE_MS = 200

/** Sandboxes as directories of this machine. Keeps nothing in memory that another host process would miss. */
export class ProcessBackend implements SandboxBackend {
  readonly name: string
  readonly #clock: Clock
  readonly #isPersistent: boolean
  readonly #sandboxes: SandboxDirectory
  readonly #snapshots: SnapshotDirectory
  readonly #watcher: TreeWatcher

  constructor(options: ProcessBackendOptions = {}) {
    this.name = options.name ?? 'process'
    this.#clock = options.clock ?? systemClock
    this.#isPersistent = options.dir !== undefined
    this.#sandboxes = new SandboxDirectory(options.dir)
    this.#snapshots = new SnapshotDirectory(this.#sandboxes)
    this.#watcher = new TreeWatcher(this.#clock)
  }

  capabilities(): SandboxCapabilities {
    return processCapabilities(this.#isPersistent)
  }

  async create(input: SandboxCreateInput): Promise<ProcessHandle> {
    return this.#addOrAdopt(input)
  }

  async resume(input: SandboxResumeInput): Promise<ProcessHandle | null> {
    const record = await this.#sandboxes.find(input.id)
    return record === null ? null : this.#open(record)
  }

  async restoreSnapshot(input: SandboxRestoreInput): Promise<ProcessHandle> {
    const content = await this.#snapshots.find(input.snapshotId)
    if (content !== null) return this.#addOrAdopt(input, content)
    throw new NotFoundError('SANDBOX_NOT_FOUND', `No snapshot has the id ${input.snapshotId}.`)
  }

  async destroy(input: SandboxDestroyInput): Promise<void> {
    const record = await this.#sandboxes.find(input.id)
    if (record === null) return
    try {
      await this.#endProcesses(record)
      await this.#sandboxes.remove(record.id)
      // What was being started in the meantime has no directory left, but it runs.
      await this.#endProcesses(record)
    } catch (cause) {
      throw new ProviderError('SANDBOX_DESTROY_FAILED', `Sandbox ${record.id} could not be removed; try again.`, {
        cause,
        retryable: true,
      })
    }
  }

  async list(input: { labels: Labels }): Promise<SandboxListing[]> {
    const records = await this.#sandboxes.list()
    return records
      .filter(({ labels }) => carriesLabels(labels, input.labels))
      .map(({ id, labels, state, createdAt }) => ({ sandboxId: id, labels, state, createdAt }))
  }

  /** There is no cheaper disk here, so `archive` does what `stop` does. */
  async park(input: { id: string }): Promise<void> {
    const record = await this.#sandboxes.find(input.id)
    if (record === null) throw new NotFoundError('SANDBOX_NOT_FOUND', `No sandbox has the id ${input.id}.`)
    await this.#endProcesses(record)
    await this.#sandboxes.update({ ...record, state: 'stopped' })
  }

  async probe(): Promise<SandboxProbe> {
    try {
      await access(await this.#sandboxes.root(), constants.W_OK)
      await access('/bin/sh', constants.X_OK)
      return { ok: true }
    } catch (error) {
      return { ok: false, reason: error instanceof Error ? error.message : String(error) }
    }
  }

  async close(): Promise<void> {
    this.#watcher.stopAll()
  }

  async #addOrAdopt(
    input: Pick<SandboxCreateInput, 'id' | 'labels' | 'signal'>,
    content?: string,
  ): Promise<ProcessHandle> {
    input.signal?.throwIfAborted()
    const record: SandboxRecord = {
      id: input.id ?? randomUUID(),
      instance: randomUUID(),
      labels: { ...input.labels },
      createdAt: this.#clock.now(),
      state: 'running',
    }
    const isNew = await this.#sandboxes.add(record, content)
    return isNew ? this.#open(record) : this.#adopt(record)
  }

  async #adopt(wanted: SandboxRecord): Promise<ProcessHandle> {
    const existing = await this.#sandboxes.find(wanted.id)
    if (existing === null) {
      const message = `Sandbox ${wanted.id} is being removed; try again.`
      throw new ProviderError('PROVIDER_UNAVAILABLE', message, { retryable: true })
    }
    if (haveSameLabels(existing.labels, wanted.labels)) return this.#open(existing)
    throw new ConflictError('SANDBOX_FOREIGN', `Sandbox ${wanted.id} exists with other labels.`)
  }

  async #open(record: SandboxRecord): Promise<ProcessHandle> {
    if (record.state !== 'running') await this.#sandboxes.update({ ...record, state: 'running' })
    return new ProcessHandle({
      record,
      paths: await this.#sandboxes.paths(record.id),
      clock: this.#clock,
      watcher: this.#watcher,
      snapshot: (label) => this.#snapshots.take(record, label),
      fork: () => this.#fork(record),
      destroy: () => this.destroy({ id: record.id }),
    })
  }

  async #fork(source: SandboxRecord): Promise<ProcessHandle> {
    const { path } = await this.#sandboxes.paths(source.id)
    return this.#addOrAdopt({ labels: source.labels }, path)
  }

  async #endProcesses(record: SandboxRecord): Promise<void> {
    await endFamily(sandboxFamily(record.instance), { signal: 'SIGTERM', graceMs: DESTROY_GRACE_MS })
  }
}
