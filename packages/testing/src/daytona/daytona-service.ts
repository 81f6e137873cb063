import { join } from 'node:path'
import type { Clock } from '@holdfast/core'
import { SandboxActivity } from './control/sandbox-activity.ts'
import { sandboxDto, sandboxListItem } from './control/sandbox-dto.ts'
import { SandboxLifecycle } from './control/sandbox-lifecycle.ts'
import type { SandboxRecord } from './control/sandbox-record.ts'
import { SandboxRegistry } from './control/sandbox-registry.ts'
import { SandboxTransitions, type StateChange } from './control/sandbox-transitions.ts'
import { SnapshotRegistry } from './control/snapshot-registry.ts'
import { SshAccessRegistry } from './control/ssh-access.ts'
import type { DaytonaKnobs } from './daytona-knobs.ts'
import { Organizations } from './http/organizations.ts'
import { PreviewTokens } from './preview/preview-tokens.ts'
import type { SeededRandom } from './seeded-random.ts'
import type { ToolboxContext } from './toolbox/toolbox.ts'

export interface ServiceInput {
  readonly knobs: DaytonaKnobs
  readonly clock: Clock
  readonly random: SeededRandom
  readonly baseDir: string
  readonly serverTag: ToolboxContext['serverTag']
}

/** All that the service knows, apart from any connection. */
export class DaytonaService {
  readonly knobs: DaytonaKnobs
  readonly random: SeededRandom
  readonly baseDir: string
  readonly organizations = new Organizations()
  readonly sandboxes = new SandboxRegistry()
  readonly snapshots: SnapshotRegistry
  readonly transitions: SandboxTransitions
  readonly lifecycle: SandboxLifecycle
  readonly activity: SandboxActivity
  readonly previews: PreviewTokens
  readonly sshAccess: SshAccessRegistry
  readonly now: () => number
  /** Told of every change of state; set by the event channel. */
  onStateChange: (change: StateChange) => void = () => undefined
  onCreated: (record: SandboxRecord) => void = () => undefined
  /** Set when the port is known: `http://127.0.0.1:1234`. */
  origin = ''

  constructor(input: ServiceInput) {
    this.knobs = input.knobs
    this.random = input.random
    this.baseDir = input.baseDir
    this.now = () => input.clock.now()
    this.snapshots = new SnapshotRegistry(this.now)
    this.transitions = new SandboxTransitions(input.knobs, input.clock, (change) => this.onStateChange(change))
    const toolboxContext: ToolboxContext = { ...input, now: this.now }
    this.lifecycle = new SandboxLifecycle({
      registry: this.sandboxes,
      transitions: this.transitions,
      toolboxContext: () => toolboxContext,
      now: this.now,
    })
    this.activity = new SandboxActivity(input.knobs, input.clock, this.sandboxes, this.lifecycle)
    this.previews = new PreviewTokens(input.knobs, this.now)
    this.sshAccess = new SshAccessRegistry(this.now)
  }

  dto(record: SandboxRecord): Record<string, unknown> {
    return sandboxDto(record, this.#dtoContext())
  }

  listItem(record: SandboxRecord): Record<string, unknown> {
    return sandboxListItem(record, this.#dtoContext())
  }

  /** The container dies in a while, unless something else is going on with the sandbox by then. */
  killLater(sandboxId: string | undefined, afterMs: number): void {
    setTimeout(() => {
      const record = sandboxId === undefined ? undefined : this.sandboxes.findById(sandboxId)
      if (record?.state === 'started' && !record.job) void this.lifecycle.kill(record)
    }, afterMs).unref()
  }

  snapshotDir(snapshotId: string): string {
    return join(this.baseDir, 'snapshots', snapshotId)
  }

  get toolboxProxyUrl(): string {
    return `${this.origin}/toolbox`
  }

  async close(): Promise<void> {
    this.activity.close()
    this.transitions.close()
    const running = this.sandboxes.list().flatMap((record) => record.toolbox ?? [])
    await Promise.all(running.map((toolbox) => toolbox.close()))
    await Promise.all(this.sandboxes.list().flatMap((record) => record.job?.done ?? []))
  }

  #dtoContext(): { toolboxProxyUrl: string; omitToolboxProxyUrl: boolean; daemonVersion: string } {
    const { omitToolboxProxyUrl, daemon } = this.knobs
    return { toolboxProxyUrl: this.toolboxProxyUrl, omitToolboxProxyUrl, daemonVersion: `${daemon}.0` }
  }
}
