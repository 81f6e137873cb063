import { randomBytes, randomUUID } from 'node:crypto'
import { apiError } from '../http/wire-error.ts'
import type { SandboxRecord } from './sandbox-record.ts'
import { sandboxRoots } from './sandbox-roots.ts'
import { assertNetworkLists } from './network-settings.ts'
import type { SnapshotRegistry, SnapshotRecord } from './snapshot-registry.ts'

export interface CreateSandboxBody {
  name?: string
  snapshot?: string
  buildInfo?: { dockerfileContent?: string; contextHashes?: string[] }
  user?: string
  env?: Record<string, string>
  labels?: Record<string, string>
  public?: boolean
  target?: string
  cpu?: number
  gpu?: number
  memory?: number
  disk?: number
  autoStopInterval?: number
  autoPauseInterval?: number
  autoArchiveInterval?: number
  autoDeleteInterval?: number
  ttlMinutes?: number
  volumes?: unknown[]
  networkBlockAll?: boolean
  networkAllowList?: string
  domainAllowList?: string
}

export interface CreateContext {
  organizationId: string
  baseDir: string
  now: number
  sandboxClass: SandboxRecord['sandboxClass']
  snapshots: SnapshotRegistry
}

/** Defaults of the service [A190]. */
const AUTO_STOP_MINUTES = 15
export const MAX_ARCHIVE_MINUTES = 30 * 24 * 60
const AUTO_ARCHIVE_MINUTES = 7 * 24 * 60
const NEVER = -1
const MINUTE_MS = 60_000

/** Checks the request and makes the record, without any effect outside it. */
export function newSandboxRecord(body: CreateSandboxBody, context: CreateContext): SandboxRecord {
  const snapshot = resolveSnapshot(body, context)
  assertNetworkLists(body)
  const { now } = context
  const id = randomUUID()
  const { cpu, memory, disk } = sizes(body, snapshot)
  return {
    id,
    organizationId: context.organizationId,
    name: body.name ?? id,
    snapshot: snapshot?.name ?? null,
    buildInfo: body.buildInfo ?? null,
    user: body.user ?? 'daytona',
    env: { ...body.env },
    labels: { ...body.labels },
    isPublic: body.public ?? false,
    target: body.target ?? 'us',
    cpu,
    memory,
    disk,
    gpu: body.gpu ?? 0,
    state: 'unknown',
    desiredState: 'started',
    errorReason: null,
    recoverable: false,
    backupState: 'None',
    backupCreatedAt: null,
    ...intervals(body),
    autoDestroyAt: body.ttlMinutes ? now + body.ttlMinutes * MINUTE_MS : null,
    volumes: body.volumes ?? [],
    networkBlockAll: body.networkBlockAll ?? false,
    networkAllowList: body.networkAllowList ?? null,
    domainAllowList: body.domainAllowList ?? null,
    sandboxClass: context.sandboxClass,
    parentId: null,
    createdAt: now,
    updatedAt: now,
    lastActivityAt: now,
    activityNotedAt: { proxy: Number.NEGATIVE_INFINITY, refresh: Number.NEGATIVE_INFINITY },
    authToken: randomBytes(16).toString('hex'),
    signingKey: randomBytes(32).toString('hex'),
    roots: sandboxRoots(context.baseDir, id),
    toolbox: null,
    job: null,
  }
}

/** A copy of the parent under a name and id of its own. */
export function forkedRecord(parent: SandboxRecord, name: string | undefined, context: CreateContext): SandboxRecord {
  const { env, labels, target, user, cpu, gpu, memory, disk } = parent
  const child = newSandboxRecord({ env, labels, target, user }, context)
  return Object.assign(child, {
    cpu,
    gpu,
    memory,
    disk,
    name: name ?? child.id,
    parentId: parent.id,
    snapshot: parent.snapshot,
  })
}

function resolveSnapshot(body: CreateSandboxBody, context: CreateContext): SnapshotRecord | undefined {
  if (body.buildInfo) {
    if (body.snapshot !== undefined) throw apiError(400, 'Cannot specify both a snapshot and build info')
    return undefined
  }
  if (body.cpu !== undefined || body.memory !== undefined || body.disk !== undefined || body.gpu !== undefined)
    throw apiError(400, 'Cannot specify Sandbox resources when using a snapshot')
  const snapshot = context.snapshots.findUsable(body.snapshot, context.organizationId)
  if (!snapshot)
    throw apiError(400, `Snapshot ${body.snapshot} not found. Did you add it through the Daytona Dashboard?`)
  if (snapshot.state !== 'active') throw apiError(400, `Snapshot ${snapshot.name} is ${snapshot.state}`)
  snapshot.lastUsedAt = context.now
  return snapshot
}

function sizes(
  body: CreateSandboxBody,
  snapshot: SnapshotRecord | undefined,
): { cpu: number; memory: number; disk: number } {
  return {
    cpu: body.cpu ?? snapshot?.cpu ?? 1,
    memory: body.memory ?? snapshot?.mem ?? 1,
    disk: body.disk ?? snapshot?.disk ?? 3,
  }
}

function intervals(
  body: CreateSandboxBody,
): Pick<SandboxRecord, 'autoStopMinutes' | 'autoPauseMinutes' | 'autoArchiveMinutes' | 'autoDeleteMinutes'> {
  return {
    autoStopMinutes: body.autoStopInterval ?? AUTO_STOP_MINUTES,
    autoPauseMinutes: body.autoPauseInterval ?? 0,
    autoArchiveMinutes: archiveMinutes(body.autoArchiveInterval ?? AUTO_ARCHIVE_MINUTES),
    autoDeleteMinutes: body.autoDeleteInterval ?? NEVER,
  }
}

/** 0 stands for the most that the service allows [A190]. */
export function archiveMinutes(minutes: number): number {
  return minutes === 0 ? MAX_ARCHIVE_MINUTES : Math.min(minutes, MAX_ARCHIVE_MINUTES)
}
