import type { Toolbox } from '../toolbox/toolbox.ts'
import type { SandboxRoots } from './sandbox-roots.ts'

/** One of the documented states, or any other word a test wants to see handled. */
export type SandboxStateName = string

export type DesiredState = 'destroyed' | 'started' | 'stopped' | 'resized' | 'archived' | 'paused'

/** A sandbox as the server knows it. Times are epoch milliseconds by the server's clock. */
export interface SandboxRecord {
  readonly id: string
  readonly organizationId: string
  name: string
  snapshot: string | null
  buildInfo: { dockerfileContent?: string; contextHashes?: string[] } | null
  user: string
  env: Record<string, string>
  labels: Record<string, string>
  isPublic: boolean
  target: string
  cpu: number
  gpu: number
  memory: number
  disk: number
  state: SandboxStateName
  desiredState: DesiredState
  errorReason: string | null
  recoverable: boolean
  backupState: 'None' | 'Pending' | 'InProgress' | 'Completed' | 'Error'
  backupCreatedAt: number | null
  autoStopMinutes: number
  autoPauseMinutes: number
  autoArchiveMinutes: number
  autoDeleteMinutes: number
  autoDestroyAt: number | null
  volumes: unknown[]
  networkBlockAll: boolean
  networkAllowList: string | null
  domainAllowList: string | null
  sandboxClass: 'container' | 'linux-vm'
  parentId: string | null
  createdAt: number
  updatedAt: number
  lastActivityAt: number
  /** When activity was last noted, by source: notes are throttled. */
  activityNotedAt: { proxy: number; refresh: number }
  /** Accepted by the toolbox and preview proxy; another one after every start. */
  authToken: string
  signingKey: string
  readonly roots: SandboxRoots
  /** Present while the sandbox runs. */
  toolbox: Toolbox | null
  /** The transition that is going on. */
  job: SandboxJob | null
}

export interface SandboxJob {
  readonly state: SandboxStateName
  /** Gives the transition up where that is legal. */
  readonly cancel: AbortController
  readonly done: Promise<void>
}

/** Whether processes run in it: the state itself, or one that a running sandbox passes through. */
export function isRunning(record: SandboxRecord): boolean {
  return record.toolbox !== null && ['started', 'snapshotting', 'forking', 'resizing'].includes(record.state)
}

export function isEphemeral(record: SandboxRecord): boolean {
  return record.autoDeleteMinutes === 0
}
