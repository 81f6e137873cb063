import type { SandboxRecord } from './sandbox-record.ts'

export interface SandboxDtoContext {
  toolboxProxyUrl: string
  omitToolboxProxyUrl: boolean
  daemonVersion: string
}

/** The whole DTO: the SDK overwrites its object with whatever an answer says, so nothing may be left out. */
export function sandboxDto(record: SandboxRecord, context: SandboxDtoContext): Record<string, unknown> {
  return {
    ...sandboxListItem(record, context),
    env: { ...record.env },
    networkBlockAll: record.networkBlockAll,
    ...optional('networkAllowList', record.networkAllowList),
    ...optional('domainAllowList', record.domainAllowList),
    volumes: record.volumes,
    ...optional('buildInfo', record.buildInfo),
    ...optional('backupCreatedAt', isoTime(record.backupCreatedAt)),
    ...optional('linkedSandboxId', record.parentId),
  }
}

/** What lists answer: without `env`, by which the SDK knows that network, volumes and build are missing too. */
export function sandboxListItem(record: SandboxRecord, context: SandboxDtoContext): Record<string, unknown> {
  return {
    id: record.id,
    organizationId: record.organizationId,
    name: record.name,
    ...optional('snapshot', record.snapshot),
    user: record.user,
    labels: { ...record.labels },
    public: record.isPublic,
    target: record.target,
    cpu: record.cpu,
    gpu: record.gpu,
    memory: record.memory,
    disk: record.disk,
    state: record.state,
    desiredState: record.desiredState,
    ...optional('errorReason', record.errorReason),
    recoverable: record.recoverable,
    backupState: record.backupState,
    autoStopInterval: record.autoStopMinutes,
    autoPauseInterval: record.autoPauseMinutes,
    autoArchiveInterval: record.autoArchiveMinutes,
    autoDeleteInterval: record.autoDeleteMinutes,
    ...optional('autoDestroyAt', isoTime(record.autoDestroyAt)),
    createdAt: isoTime(record.createdAt),
    updatedAt: isoTime(record.updatedAt),
    lastActivityAt: isoTime(record.lastActivityAt),
    sandboxClass: record.sandboxClass,
    daemonVersion: context.daemonVersion,
    runnerId: 'runner-1',
    ...(context.omitToolboxProxyUrl ? {} : { toolboxProxyUrl: context.toolboxProxyUrl }),
  }
}

function optional(key: string, value: unknown): Record<string, unknown> {
  return value === null || value === undefined ? {} : { [key]: value }
}

function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
