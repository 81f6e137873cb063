import type { Clock } from '@holdfast/core'
import type { DaytonaKnobs } from '../daytona-knobs.ts'
import { isEphemeral, type SandboxRecord } from './sandbox-record.ts'
import type { SandboxLifecycle } from './sandbox-lifecycle.ts'
import type { SandboxRegistry } from './sandbox-registry.ts'

const MINUTE_MS = 60_000
/** After which a transition counts as failed [A190]. */
const STUCK_MINUTES: Record<string, number> = {
  starting: 5,
  creating: 15,
  restoring: 30,
  pulling_snapshot: 30,
  building_snapshot: 60,
}

/**
 * What keeps a sandbox awake, and what happens to one that nothing does. Only clients count: requests and connections
 * through the proxy, and `last-activity`. Work inside a sandbox does not [A190][P190].
 */
export class SandboxActivity {
  readonly #knobs: DaytonaKnobs
  readonly #clock: Clock
  readonly #registry: SandboxRegistry
  readonly #lifecycle: SandboxLifecycle
  #cancelTick: () => void = () => undefined

  constructor(knobs: DaytonaKnobs, clock: Clock, registry: SandboxRegistry, lifecycle: SandboxLifecycle) {
    this.#knobs = knobs
    this.#clock = clock
    this.#registry = registry
    this.#lifecycle = lifecycle
    this.#scheduleTick()
  }

  /** Notes are throttled, so that the stored time may be older than the last request. */
  note(record: SandboxRecord, source: 'proxy' | 'refresh'): void {
    const now = this.#clock.now()
    if (now - record.activityNotedAt[source] < this.#knobs.activityThrottleMs[source]) return
    record.activityNotedAt[source] = now
    record.lastActivityAt = now
  }

  /** An open connection counts again and again. Returns a function that ends it. */
  hold(record: SandboxRecord): () => void {
    let cancel: () => void = () => undefined
    const repeat = (): void => {
      this.note(record, 'proxy')
      cancel = this.#clock.schedule(this.#knobs.connectionActivityMs, repeat)
    }
    repeat()
    return () => cancel()
  }

  /** Stops, archives and deletes what has been idle for long enough. Runs by itself every `idleCheckMs`. */
  check(): void {
    for (const record of this.#registry.list()) {
      if (record.job) this.#failStuck(record)
      else this.#checkIdle(record)
    }
  }

  close(): void {
    this.#cancelTick()
  }

  #scheduleTick(): void {
    this.#cancelTick = this.#clock.schedule(this.#knobs.idleCheckMs, () => {
      this.check()
      this.#scheduleTick()
    })
  }

  #failStuck(record: SandboxRecord): void {
    const limit = STUCK_MINUTES[record.state]
    if (limit === undefined || this.#clock.now() - record.updatedAt < limit * MINUTE_MS) return
    this.#lifecycle.abandon(record, `Timeout while ${record.state}`)
  }

  #checkIdle(record: SandboxRecord): void {
    const idleMs = this.#clock.now() - record.lastActivityAt
    const isIdleFor = (minutes: number): boolean => minutes > 0 && idleMs >= minutes * MINUTE_MS
    if (record.autoDestroyAt !== null && this.#clock.now() >= record.autoDestroyAt) {
      if (record.desiredState !== 'destroyed') this.#lifecycle.destroy(record)
      return
    }
    if (record.state === 'started') {
      if (isIdleFor(record.autoStopMinutes)) this.#lifecycle.stop(record)
      else if (isIdleFor(record.autoPauseMinutes)) this.#lifecycle.pause(record)
      return
    }
    const hasDelete = record.autoDeleteMinutes > 0
    if (['stopped', 'archived'].includes(record.state) && hasDelete && isIdleFor(record.autoDeleteMinutes))
      this.#lifecycle.destroy(record)
    else if (record.state === 'stopped' && !isEphemeral(record) && isIdleFor(record.autoArchiveMinutes))
      this.#lifecycle.archive(record)
  }
}
