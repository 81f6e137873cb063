import { randomUUID } from 'node:crypto'
import { apiError } from '../http/wire-error.ts'

/** The service's words for a snapshot's state. */
export type SnapshotState =
  | 'building'
  | 'pending'
  | 'pulling'
  | 'snapshotting'
  | 'active'
  | 'inactive'
  | 'error'
  | 'build_failed'
  | 'removing'

export interface SnapshotRecord {
  readonly id: string
  readonly name: string
  /** Null for a general snapshot, which every organization may use. */
  readonly organizationId: string | null
  state: SnapshotState
  errorReason: string | null
  imageName: string | null
  buildInfo: object | null
  readonly cpu: number
  readonly mem: number
  readonly disk: number
  readonly sourceSandboxId: string | null
  readonly createdAt: number
  updatedAt: number
  lastUsedAt: number | null
  /** Where its files are; null for one without any. */
  readonly filesDir: string | null
}

export const DEFAULT_SNAPSHOT = 'daytonaio/sandbox:0.218.0'

/** Snapshots by id and, within an organization, by name. */
export class SnapshotRegistry {
  readonly #byId = new Map<string, SnapshotRecord>()
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
    this.add({ name: DEFAULT_SNAPSHOT, organizationId: null, state: 'active' })
  }

  add(input: Pick<SnapshotRecord, 'name' | 'organizationId' | 'state'> & Partial<SnapshotRecord>): SnapshotRecord {
    const now = this.#now()
    const record: SnapshotRecord = {
      id: randomUUID(),
      errorReason: null,
      imageName: null,
      buildInfo: null,
      cpu: 1,
      mem: 1,
      disk: 3,
      sourceSandboxId: null,
      createdAt: now,
      updatedAt: now,
      lastUsedAt: null,
      filesDir: null,
      ...input,
    }
    this.#byId.set(record.id, record)
    return record
  }

  list(organizationId: string): SnapshotRecord[] {
    return [...this.#byId.values()].filter((record) => isVisible(record, organizationId))
  }

  find(idOrName: string, organizationId: string): SnapshotRecord | undefined {
    return this.list(organizationId).find((record) => record.id === idOrName || record.name === idOrName)
  }

  /** The default one when none is named. */
  findUsable(idOrName: string | undefined, organizationId: string): SnapshotRecord | undefined {
    return this.find(idOrName ?? DEFAULT_SNAPSHOT, organizationId)
  }

  open(idOrName: string, organizationId: string): SnapshotRecord {
    const record = this.find(idOrName, organizationId)
    if (!record) throw apiError(404, `Snapshot ${idOrName} not found`)
    return record
  }

  setState(record: SnapshotRecord, state: SnapshotState): void {
    record.state = state
    record.updatedAt = this.#now()
  }

  remove(id: string): void {
    this.#byId.delete(id)
  }
}

function isVisible(record: SnapshotRecord, organizationId: string): boolean {
  return record.organizationId === null || record.organizationId === organizationId
}

export function snapshotDto(record: SnapshotRecord): object {
  return {
    id: record.id,
    ...(record.organizationId === null ? {} : { organizationId: record.organizationId }),
    general: record.organizationId === null,
    name: record.name,
    ...(record.imageName === null ? {} : { imageName: record.imageName }),
    ...(record.buildInfo === null ? {} : { buildInfo: record.buildInfo }),
    state: record.state,
    size: record.state === 'active' ? 1 : null,
    entrypoint: null,
    cpu: record.cpu,
    gpu: 0,
    mem: record.mem,
    disk: record.disk,
    errorReason: record.errorReason,
    createdAt: new Date(record.createdAt).toISOString(),
    updatedAt: new Date(record.updatedAt).toISOString(),
    lastUsedAt: record.lastUsedAt === null ? null : new Date(record.lastUsedAt).toISOString(),
    sourceSandboxId: record.sourceSandboxId,
    sandboxClass: 'container',
  }
}
