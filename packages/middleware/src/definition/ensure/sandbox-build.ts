import { systemClock } from '@holdfast/core'
import type {
  Clock,
  LockStore,
  MetadataStore,
  SandboxHandle,
  SandboxInstanceRecord,
  SandboxInstanceStore,
} from '@holdfast/core'
import { loggerWithoutSecrets } from '../definition-logger.ts'
import type { DefinitionLogger } from '../definition-logger.ts'
import type { SandboxEnsureContext, SandboxOrigin, SandboxPhase } from '../ensure-context.ts'
import { workspaceRedactor } from '../../secrets/workspace-redactor.ts'
import type { SandboxDefinitionConfig } from '../sandbox-definition.ts'
import { sandboxLabels } from '../sandbox-labels.ts'
import { withSnapshot } from '../snapshot-age.ts'

export interface SandboxBuildInput {
  definition: SandboxDefinitionConfig
  key: string
  context: SandboxEnsureContext
  store: SandboxInstanceStore
  locks: LockStore
  metadata: MetadataStore
  /** Of the lock: after it aborts, another host may own the key. */
  leaseSignal: AbortSignal
  /** The row before this attempt. */
  previous: SandboxInstanceRecord | null
}

/** One attempt to get a usable sandbox for a key. The steps share it. */
export class SandboxBuild {
  readonly definition: SandboxDefinitionConfig
  readonly key: string
  readonly context: SandboxEnsureContext
  readonly store: SandboxInstanceStore
  readonly locks: LockStore
  readonly metadata: MetadataStore
  readonly leaseSignal: AbortSignal
  readonly previous: SandboxInstanceRecord | null
  /** Aborts when the run does, or when the lock is in doubt. */
  readonly signal: AbortSignal
  readonly labels: Readonly<Record<string, string>>
  readonly clock: Clock
  readonly logger: DefinitionLogger
  origin: SandboxOrigin = 'created'
  /** Taken by this attempt. */
  snapshot?: { id: string; takenAt: number }
  record?: SandboxInstanceRecord
  /** The service said that the name belongs to somebody else: there is nothing of ours to destroy. */
  isForeign = false
  /** Holds a finished workspace already: a lost row, or a crash just before the row was written. */
  isBootstrapped = false
  #handle: SandboxHandle | undefined

  constructor(input: SandboxBuildInput) {
    const { definition, key, context } = input
    this.definition = definition
    this.key = key
    this.context = context
    this.store = input.store
    this.locks = input.locks
    this.metadata = input.metadata
    this.leaseSignal = input.leaseSignal
    this.previous = input.previous
    this.signal =
      context.signal === undefined ? input.leaseSignal : AbortSignal.any([context.signal, input.leaseSignal])
    this.labels = sandboxLabels({ key, threadId: context.threadId, appId: definition.id })
    this.clock = context.clock ?? systemClock
    this.logger = loggerWithoutSecrets(context.logger ?? console, workspaceRedactor(definition.workspace))
  }

  get workspaceHash(): string {
    return this.definition.workspaceHash
  }

  get handle(): SandboxHandle {
    if (this.#handle === undefined) throw new Error('A step used the sandbox before the step that makes it.')
    return this.#handle
  }

  set handle(handle: SandboxHandle) {
    this.#handle = handle
  }

  /** The id to destroy by: the service's once it is known, else the name that `create` was given. */
  get sandboxId(): string {
    return this.#handle?.id ?? this.key
  }

  report(phase: SandboxPhase, detail?: string): void {
    try {
      this.context.onProgress?.({ phase, ...(detail !== undefined && { detail }) })
    } catch (error) {
      this.logger.warn('A progress callback of the sandbox failed.', error)
    }
  }

  /** A row of this attempt. The thread's vendor snapshot stays on record until another sandbox takes its place. */
  row(state: 'intent' | 'ready' | 'condemned', sandboxId: string): SandboxInstanceRecord {
    const row: SandboxInstanceRecord = {
      key: this.key,
      provider: this.definition.provider.name,
      providerSandboxId: sandboxId,
      threadId: this.context.threadId,
      latestRunId: this.context.runId,
      updatedAt: this.clock.now(),
      state,
      labels: this.labels,
    }
    if (this.snapshot !== undefined) return withSnapshot(row, this.snapshot.id, this.snapshot.takenAt)
    const { latestSnapshotId, labels } = this.previous ?? {}
    if (latestSnapshotId === undefined || (state === 'ready' && this.origin === 'created')) return row
    return { ...row, latestSnapshotId, labels: { ...labels, ...row.labels } }
  }
}
